import type { Findings } from './findings.ts';
import { decodedBytes, estimateMediaTokens, MEDIA_FEATURE, type MediaKind, mediaKindOf } from './media-tokens.ts';
import { FEATURE } from './request-features.ts';

/** Media inside the request as base64 text. */
export function addInlineMedia(kind: MediaKind, base64Length: number, path: string, findings: Findings): void {
  findings.feature(MEDIA_FEATURE[kind], path);
  findings.tokens(estimateMediaTokens(kind, decodedBytes(base64Length)));
}

/** Media that the provider fetches by URL. */
export function addRemoteMedia(kind: MediaKind, path: string, findings: Findings): void {
  findings.feature(MEDIA_FEATURE[kind] | FEATURE.REMOTE_MEDIA, path);
  findings.tokens(estimateMediaTokens(kind, null));
}

/** Media that the provider holds under an id of its own. */
export function addProviderFile(kind: MediaKind, path: string, findings: Findings): void {
  findings.feature(MEDIA_FEATURE[kind] | FEATURE.PROVIDER_FILE, path);
  findings.tokens(estimateMediaTokens(kind, null));
}

/** A `data:` URL counts as inline media of its own media type, any other as remote media of the kind expected. */
export function addMediaUrl(kind: MediaKind, url: string, path: string, findings: Findings): void {
  const data = readDataUrl(url);
  if (data === null) addRemoteMedia(kind, path, findings);
  else addInlineMedia(data.mediaType === '' ? kind : mediaKindOf(data.mediaType), data.length, path, findings);
}

/** The parts of a `data:` URL; `header` is all between `data:` and the comma, `length` that of what follows. */
export interface DataUrl {
  readonly header: string;
  readonly mediaType: string;
  readonly length: number;
}

/** Null for another URL. The text itself is not copied: it may be long. */
export function readDataUrl(url: string): DataUrl | null {
  if (!url.startsWith('data:')) return null;
  const comma = url.indexOf(',', 5);
  const header = url.slice(5, comma < 0 ? 5 : comma);
  return { header, mediaType: header.split(';', 1)[0] ?? '', length: url.length - header.length };
}
