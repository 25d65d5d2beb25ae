import { hash } from 'node:crypto';
import { imageText } from './image-text.ts';
import { pdfPages } from './pdf-pages.ts';

/** A file that stands in a request. */
export interface Attachment {
  mediaType: string;
  bytes: Buffer;
}

/** A batch is read when it is checked and again when it runs. */
const REMEMBERED = 500;
const known = new Map<string, Promise<string>>();

/** The text of all of them, pages and files ended by form feeds. What cannot be read has none. */
export async function textOfAttachments(attachments: readonly Attachment[]): Promise<string> {
  return (await Promise.all(attachments.map(textOf))).join('\f');
}

/** Base64, or a `data:` URL of it; undefined for another URL. Bare base64 is of `defaultType`. */
export function readInlineFile(data: string, defaultType: string): Attachment | undefined {
  if (!/^data:/i.test(data)) return /^https?:/i.test(data) ? undefined : fromBase64(defaultType, data);
  const comma = data.indexOf(',');
  const [mediaType = ''] = data.slice('data:'.length, comma).split(';', 1);
  return fromBase64(mediaType.toLowerCase() || defaultType, data.slice(comma + 1));
}

export function fromBase64(mediaType: string, data: string): Attachment {
  return { mediaType, bytes: Buffer.from(data, 'base64') };
}

function textOf({ mediaType, bytes }: Attachment): Promise<string> {
  const key = `${mediaType} ${hash('sha256', bytes)}`;
  const found = known.get(key) ?? readText(mediaType, bytes);
  known.delete(key);
  known.set(key, found);
  for (const oldest of known.keys()) {
    if (known.size <= REMEMBERED) break;
    known.delete(oldest);
  }
  return found;
}

async function readText(mediaType: string, bytes: Buffer): Promise<string> {
  if (mediaType === 'application/pdf') return (await pdfPages(bytes)).join('\f');
  return mediaType.startsWith('image/') ? imageText(bytes) : bytes.toString('utf8');
}
