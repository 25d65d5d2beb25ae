import { inflateSync } from 'node:zlib';

const PNG = '\x89PNG\r\n\x1a\n';
const JPEG = '\xff\xd8';
const START_OF_SCAN = 0xda;
const COMMENT = 0xfe;

/**
 * What an image says: nobody reads its pixels here, so it is the text that stands beside them. Text chunks of a PNG (PNG
 * specification, 11.3.3), comments of a JPEG (T.81, B.2.4.5), XMP of a WebP (WebP container specification).
 */
export function imageText(bytes: Buffer): string {
  const found = textsOf(bytes);
  return found.map((text) => text.trim()).join('\n');
}

function textsOf(bytes: Buffer): string[] {
  try {
    if (bytes.toString('latin1', 0, 8) === PNG) return pngTexts(bytes);
    if (bytes.toString('latin1', 0, 2) === JPEG) return jpegComments(bytes);
    if (bytes.toString('latin1', 8, 12) === 'WEBP') return webpTexts(bytes);
  } catch (error) {
    // Cut short, or compressed text that is none.
    if (!(error instanceof RangeError) && !(error instanceof Error && 'code' in error)) throw error;
  }
  return [];
}

function pngTexts(bytes: Buffer): string[] {
  const texts: string[] = [];
  for (let at = 8; at + 8 <= bytes.length; ) {
    const length = bytes.readUInt32BE(at);
    const type = bytes.toString('latin1', at + 4, at + 8);
    const text = pngText(type, bytes.subarray(at + 8, at + 8 + length));
    if (text !== undefined) texts.push(text);
    at += 12 + length;
  }
  return texts;
}

/** A chunk is a keyword and a text with a NUL between, and what says how the text is written. */
function pngText(type: string, data: Buffer): string | undefined {
  const end = data.indexOf(0);
  if (type === 'tEXt') return data.toString('latin1', end + 1);
  if (type === 'zTXt') return inflateSync(data.subarray(end + 2)).toString('latin1');
  if (type !== 'iTXt') return undefined;
  const isCompressed = data[end + 1] === 1;
  const language = data.indexOf(0, end + 3);
  const text = data.subarray(data.indexOf(0, language + 1) + 1);
  return (isCompressed ? inflateSync(text) : text).toString('utf8');
}

function jpegComments(bytes: Buffer): string[] {
  const texts: string[] = [];
  for (let at = 2; at + 4 <= bytes.length && bytes[at] === 0xff && bytes[at + 1] !== START_OF_SCAN; ) {
    const length = bytes.readUInt16BE(at + 2);
    if (bytes[at + 1] === COMMENT) texts.push(bytes.toString('utf8', at + 4, at + 2 + length));
    at += 2 + length;
  }
  return texts;
}

function webpTexts(bytes: Buffer): string[] {
  const texts: string[] = [];
  for (let at = 12; at + 8 <= bytes.length; ) {
    const length = bytes.readUInt32LE(at + 4);
    if (bytes.toString('latin1', at, at + 4) === 'XMP ') {
      texts.push(bytes.toString('utf8', at + 8, at + 8 + length).replace(/<[^>]*>/g, '\n'));
    }
    at += 8 + length + (length % 2);
  }
  return texts;
}
