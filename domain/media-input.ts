import type { Findings } from './findings.ts';
import { decodedBytes, estimateMediaTokens, MEDIA_FEATURE, type MediaKind, mediaKindOf } from './media-tokens.ts';
import { FEATURE } from './request-features.ts';

/** Media inside the request as base64 text. */
export function addInlineMedia(kind: MediaKind, base64Length: number, findings: Findings): void {
  findings.feature(MEDIA_FEATURE[kind]);
  findings.tokens(estimateMediaTokens(kind, decodedBytes(base64Length)));
}

/** Media that the provider fetches by URL. */
export function addRemoteMedia(kind: MediaKind, findings: Findings): void {
  findings.feature(MEDIA_FEATURE[kind] | FEATURE.REMOTE_MEDIA);
  findings.tokens(estimateMediaTokens(kind, null));
}

/** Media that the provider holds under an id of its own. */
export function addProviderFile(kind: MediaKind, findings: Findings): void {
  findings.feature(MEDIA_FEATURE[kind] | FEATURE.PROVIDER_FILE);
  findings.tokens(estimateMediaTokens(kind, null));
}

/** A `data:` URL counts as inline media of its own media type, any other as remote media of the kind expected. */
export function addMediaUrl(kind: MediaKind, url: string, findings: Findings): void {
  if (!url.startsWith('data:')) {
    addRemoteMedia(kind, findings);
    return;
  }
  const comma = url.indexOf(',', 5);
  const header = url.slice(5, comma < 0 ? 5 : comma);
  const mediaType = header.split(';', 1)[0] ?? '';
  addInlineMedia(mediaType === '' ? kind : mediaKindOf(mediaType), url.length - header.length, findings);
}
