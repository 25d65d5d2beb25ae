import { type Part, PartMediaResolutionLevel } from '@google/genai';
import { findObject, type JsonObject } from '../../domain/json-object.ts';
import { UntranslatableRequest } from '../untranslatable-request.ts';
import { refuseOthers } from './refuse-members.ts';

const RESOLUTIONS: ReadonlyMap<unknown, PartMediaResolutionLevel> = new Map<unknown, PartMediaResolutionLevel>([
  ['low', PartMediaResolutionLevel.MEDIA_RESOLUTION_LOW],
  ['high', PartMediaResolutionLevel.MEDIA_RESOLUTION_HIGH],
]);

/** Gemini wants a type for what it fetches, and the path of a URL is all there is to go by. */
const IMAGE_TYPES: ReadonlyMap<string, string> = new Map([
  ['png', 'image/png'],
  ['webp', 'image/webp'],
  ['gif', 'image/gif'],
  ['heic', 'image/heic'],
  ['heif', 'image/heif'],
  ['bmp', 'image/bmp'],
  ['avif', 'image/avif'],
]);
const DEFAULT_IMAGE_TYPE = 'image/jpeg';
/** What bare base64 is, as OpenAI reads it. */
const DEFAULT_FILE_TYPE = 'application/pdf';

/** Media type (may be absent) and data of a base64 `data:` URL. */
const DATA_URL = /^data:([^;,]*)(?:;[^;,]*)*?;base64,/i;

/** An `image_url` part: inline where it is a `data:` URL, else fetched by Gemini (@google/genai, `Part`). */
export function toImagePart(part: JsonObject, path: string): Part {
  const image = findObject(part, 'image_url') ?? {};
  refuseOthers(part, ['type', 'image_url'], path);
  refuseOthers(image, ['url', 'detail'], `${path}.image_url`);
  const url = typeof image['url'] === 'string' ? image['url'] : '';
  const media: Part | null = isDataUrl(url) ? inlineData(url, DEFAULT_IMAGE_TYPE) : toFileData(url);
  if (media === null) {
    throw new UntranslatableRequest(`${path}.image_url.url`, 'must be a base64 data: URL or an http(s) URL');
  }
  const level = readDetail(image['detail'], path);
  return level === null ? media : { ...media, mediaResolution: { level } };
}

/** A `file` part with its data. Its name is left out: Gemini has none for inline data outside server tools. */
export function toFilePart(part: JsonObject, path: string): Part {
  const file = findObject(part, 'file') ?? {};
  refuseOthers(part, ['type', 'file'], path);
  // A file of the provider's own has no member here, so it is refused like any other.
  refuseOthers(file, ['file_data', 'filename'], `${path}.file`);
  const data = file['file_data'];
  if (typeof data !== 'string') throw new UntranslatableRequest(`${path}.file.file_data`, 'must be a string');
  const media = isDataUrl(data)
    ? inlineData(data, DEFAULT_FILE_TYPE)
    : { inlineData: { mimeType: DEFAULT_FILE_TYPE, data } };
  if (media === null) throw new UntranslatableRequest(`${path}.file.file_data`, 'must be base64');
  return media;
}

function isDataUrl(url: string): boolean {
  return /^data:/i.test(url);
}

function inlineData(url: string, defaultType: string): Part | null {
  const header = DATA_URL.exec(url);
  if (header === null) return null;
  return { inlineData: { mimeType: header[1] || defaultType, data: url.slice(header[0].length) } };
}

function toFileData(url: string): Part | null {
  if (!/^https?:\/\//i.test(url)) return null;
  const ending = /\.([A-Za-z0-9]+)$/.exec(URL.parse(url)?.pathname ?? '')?.[1]?.toLowerCase() ?? '';
  return { fileData: { fileUri: url, mimeType: IMAGE_TYPES.get(ending) ?? DEFAULT_IMAGE_TYPE } };
}

function readDetail(detail: unknown, path: string): PartMediaResolutionLevel | null {
  if (detail === undefined || detail === null || detail === 'auto') return null;
  const level = RESOLUTIONS.get(detail);
  if (level === undefined) throw new UntranslatableRequest(`${path}.image_url.detail`, 'Gemini has no such detail');
  return level;
}
