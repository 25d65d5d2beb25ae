import { inspectMembers } from './chat-members.ts';
import type { Findings } from './findings.ts';
import type { JsonObject } from './json-object.ts';
import { addInlineMedia, addMediaUrl, addProviderFile, type DataUrl, readDataUrl } from './media-input.ts';
import { FEATURE } from './request-features.ts';

/** What Anthropic takes as images (@anthropic-ai/sdk, `Base64ImageSource`); Gemini takes them too. */
const IMAGE_TYPES: readonly string[] = ['image/jpeg', 'image/jpg', 'image/png', 'image/gif', 'image/webp'];
const WEB_URL = /^https?:\/\//i;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
const UTF_8_TEXT = /^text\/[^;]+(;charset=(utf-8|us-ascii))?;base64$/i;

const IMAGE_MEMBERS = ['url', 'detail'];
const AUDIO_MEMBERS = ['data', 'format'];
const FILE_MEMBERS = ['file_data', 'file_id', 'filename'];

/** `image_url` of a content part (openai SDK, `ChatCompletionContentPartImage`). */
export function inspectImage(image: JsonObject | null, path: string, findings: Findings): void {
  const url = image?.['url'];
  if (image === null || typeof url !== 'string') {
    findings.problem(`${path}.url`, 'must be a string');
    return;
  }
  inspectMembers(image, IMAGE_MEMBERS, path, findings);
  addMediaUrl('image', url, `${path}.url`, findings);
  const data = readDataUrl(url);
  if (data !== null) inspectDataUrl(data, IMAGE_TYPES.includes(data.mediaType), `${path}.url`, findings);
  else if (!WEB_URL.test(url)) findings.feature(FEATURE.PROVIDER_SPECIFIC, path, 'url');
  const detail = image['detail'] ?? 'auto';
  if (typeof detail !== 'string') findings.problem(`${path}.detail`, 'must be a string');
  else if (detail !== 'auto') findings.feature(detailFeatures(detail), path, 'detail');
}

/** `input_audio` of a content part. */
export function inspectAudio(audio: JsonObject | null, path: string, findings: Findings): void {
  const data = audio?.['data'];
  if (audio === null || typeof data !== 'string') {
    findings.problem(`${path}.data`, 'must be base64 text');
    return;
  }
  inspectMembers(audio, AUDIO_MEMBERS, path, findings);
  addInlineMedia('audio', data.length, path, findings);
}

/** A file as base64 text or `data:` URL, or by the provider's id. Bare base64 is a PDF. */
export function inspectFile(file: JsonObject | null, path: string, findings: Findings): void {
  const data = file?.['file_data'];
  const fileId = file?.['file_id'] ?? null;
  const isHeld = typeof fileId === 'string';
  if (file === null || (typeof data !== 'string' && !isHeld)) {
    findings.problem(path, 'must have file_data or file_id');
    return;
  }
  inspectMembers(file, FILE_MEMBERS, path, findings);
  const filename = file['filename'] ?? '';
  if (typeof filename !== 'string') findings.problem(`${path}.filename`, 'must be a string');
  if (fileId !== null && !isHeld) findings.problem(`${path}.file_id`, 'must be a string');
  if (isHeld) addProviderFile('document', `${path}.file_id`, findings);
  if (typeof data === 'string') inspectFileData(data, `${path}.file_data`, findings);
}

function inspectFileData(data: string, path: string, findings: Findings): void {
  const url = readDataUrl(data);
  if (url === null) {
    addInlineMedia('document', data.length, path, findings);
    return;
  }
  addMediaUrl('document', data, path, findings);
  const isText = url.mediaType.startsWith('text/');
  inspectDataUrl(url, isText || url.mediaType === 'application/pdf', path, findings);
  if (isText && !isUtf8(url, data)) findings.feature(FEATURE.PROVIDER_SPECIFIC, path);
}

function inspectDataUrl({ header, mediaType }: DataUrl, isCommon: boolean, path: string, findings: Findings): void {
  if (!isCommon) findings.feature(FEATURE.OTHER_MEDIA, path);
  if (mediaType === '' || !header.endsWith(';base64')) findings.feature(FEATURE.PROVIDER_SPECIFIC, path);
}

/** A text document is handed on as text, so its bytes have to be some. */
function isUtf8({ header }: DataUrl, url: string): boolean {
  const base64 = url.slice(url.indexOf(',') + 1);
  if (!UTF_8_TEXT.test(header) || !BASE64.test(base64)) return false;
  try {
    const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/** `low` and `high` have their like elsewhere; other words are OpenAI's own (openai SDK, `ImageURL.detail`). */
function detailFeatures(detail: string): number {
  const isShared = detail === 'low' || detail === 'high';
  return isShared ? FEATURE.IMAGE_DETAIL : FEATURE.IMAGE_DETAIL | FEATURE.PROVIDER_SPECIFIC;
}
