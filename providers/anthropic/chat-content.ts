import type {
  Base64ImageSource,
  DocumentBlockParam,
  ImageBlockParam,
  TextBlockParam,
} from '@anthropic-ai/sdk/resources/messages';
import type { JsonObject } from '../../domain/json-object.ts';
import { isAbsent, needList, needObject, needText, refuse, refuseOthers } from './json-shape.ts';

type UserBlock = TextBlockParam | ImageBlockParam | DocumentBlockParam;

const IMAGE_TYPES: ReadonlyMap<string, Base64ImageSource['media_type']> = new Map([
  ['image/jpeg', 'image/jpeg'],
  ['image/jpg', 'image/jpeg'],
  ['image/png', 'image/png'],
  ['image/gif', 'image/gif'],
  ['image/webp', 'image/webp'],
]);
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** A string, or parts that each hold a text under the name of their type. Empty text is left out. */
export function translateTextContent(
  content: unknown,
  field: string,
  types: readonly ('text' | 'refusal')[],
): TextBlockParam[] {
  if (typeof content === 'string') return toTextBlocks(content);
  return needList(content, field).flatMap((entry) => {
    const part = needObject(entry.value, entry.field);
    const type = types.find((candidate) => candidate === part['type']);
    if (type === undefined) return refuse(`${entry.field}.type`, `must be ${types.join(' or ')}`);
    return translateTextPart(part, type, entry.field);
  });
}

/** A string, or parts of text, image and file. */
export function translateUserContent(content: unknown, field: string): UserBlock[] {
  if (typeof content === 'string') return toTextBlocks(content);
  return needList(content, field).flatMap((entry): UserBlock[] => {
    const part = needObject(entry.value, entry.field);
    switch (part['type']) {
      case 'text':
        return translateTextPart(part, 'text', entry.field);
      case 'image_url':
        return [translateImage(part, entry.field)];
      case 'file':
        return [translateFile(part, entry.field)];
      default:
        return refuse(`${entry.field}.type`, 'must be text, image_url or file for Anthropic');
    }
  });
}

function translateTextPart(part: JsonObject, type: 'text' | 'refusal', field: string): TextBlockParam[] {
  refuseOthers(part, ['type', type], field);
  return toTextBlocks(needText(part[type], `${field}.${type}`));
}

/** Anthropic refuses an empty text block. */
export function toTextBlocks(text: string): TextBlockParam[] {
  return text === '' ? [] : [{ type: 'text', text }];
}

function translateImage(part: JsonObject, field: string): ImageBlockParam {
  refuseOthers(part, ['type', 'image_url'], field);
  const image = needObject(part['image_url'], `${field}.image_url`);
  refuseOthers(image, ['url', 'detail'], `${field}.image_url`);
  const { detail } = image;
  if (!isAbsent(detail) && detail !== 'auto') refuse(`${field}.image_url.detail`, 'must be auto for Anthropic');
  const urlField = `${field}.image_url.url`;
  const url = needText(image['url'], urlField);
  if (/^https?:\/\//i.test(url)) return { type: 'image', source: { type: 'url', url } };
  const { mediaType, data } = readDataUrl(url) ?? refuse(urlField, 'must be an http(s) URL or a data: URL of base64');
  const known = IMAGE_TYPES.get(mediaType) ?? refuse(urlField, 'must be a JPEG, PNG, GIF or WebP image for Anthropic');
  return { type: 'image', source: { type: 'base64', media_type: known, data } };
}

/** A file by its bytes; bare base64 is taken for a PDF. */
function translateFile(part: JsonObject, field: string): DocumentBlockParam {
  refuseOthers(part, ['type', 'file'], field);
  const file = needObject(part['file'], `${field}.file`);
  if (!isAbsent(file['file_id'])) refuse(`${field}.file.file_id`, 'a file held by another provider cannot be carried');
  refuseOthers(file, ['file_data', 'filename'], `${field}.file`);
  const dataField = `${field}.file.file_data`;
  const { filename } = file;
  return {
    type: 'document',
    source: readSource(needText(file['file_data'], dataField), dataField),
    ...(!isAbsent(filename) && { title: needText(filename, `${field}.file.filename`) }),
  };
}

function readSource(fileData: string, field: string): DocumentBlockParam['source'] {
  if (!fileData.startsWith('data:')) return { type: 'base64', media_type: 'application/pdf', data: fileData };
  const { mediaType, charset, data } = readDataUrl(fileData) ?? refuse(field, 'must be a data: URL of base64');
  if (mediaType === 'application/pdf') return { type: 'base64', media_type: 'application/pdf', data };
  if (!mediaType.startsWith('text/')) return refuse(field, 'must be a PDF or text for Anthropic');
  const text = ['utf-8', 'utf8', 'us-ascii'].includes(charset) ? decodeText(data) : null;
  return { type: 'text', media_type: 'text/plain', data: text ?? refuse(field, 'must be base64 of UTF-8 text') };
}

/** Null for text that would not come through whole. */
function decodeText(data: string): string | null {
  if (!BASE64.test(data)) return null;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(data, 'base64'));
  } catch {
    return null;
  }
}

/** `data:<media type>[;charset=…];base64,<data>` (RFC 2397), null for any other. */
function readDataUrl(url: string): { mediaType: string; charset: string; data: string } | null {
  const comma = url.indexOf(',');
  if (!url.startsWith('data:') || comma < 0) return null;
  const [mediaType = '', ...parameters] = url.slice('data:'.length, comma).toLowerCase().split(';');
  if (parameters.at(-1)?.trim() !== 'base64') return null;
  const charset = parameters.find((parameter) => parameter.trim().startsWith('charset='));
  return {
    mediaType: mediaType.trim(),
    charset: charset === undefined ? 'utf-8' : charset.trim().slice('charset='.length),
    data: url.slice(comma + 1),
  };
}
