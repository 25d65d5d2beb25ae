import { FEATURE } from './request-features.ts';

export type MediaKind = 'image' | 'document' | 'audio' | 'video';

export const MEDIA_FEATURE: { readonly [kind in MediaKind]: number } = {
  image: FEATURE.IMAGE_INPUT,
  document: FEATURE.DOCUMENT_INPUT,
  audio: FEATURE.AUDIO_INPUT,
  video: FEATURE.VIDEO_INPUT,
};

/**
 * Media is counted by its bytes, so that an estimate grows with what is sent and never falls below the floor:
 * - image: providers charge 250 to some 1,600 tokens by area, more for detail;
 * - document: a page is 50–100 kB scanned or 5 kB of plain text, and some 1,500 to 3,000 tokens either way;
 * - audio: 10 to 32 tokens a second, compressed to 4 kB a second or more;
 * - video: some 300 tokens a second, compressed to 50 kB a second or more.
 */
const RULES: { readonly [kind in MediaKind]: { readonly floor: number; readonly bytesPerToken: number } } = {
  image: { floor: 1_600, bytesPerToken: 250 },
  document: { floor: 3_000, bytesPerToken: 20 },
  audio: { floor: 500, bytesPerToken: 100 },
  video: { floor: 5_000, bytesPerToken: 150 },
};

/** What is assumed of media whose size is unknown: fetched by URL, or a file the provider holds. */
const ASSUMED_BYTES: { readonly [kind in MediaKind]: number } = {
  image: 1_000_000,
  document: 1_000_000,
  audio: 2_000_000,
  video: 10_000_000,
};

/** Tokens of one attachment of `byteCount` bytes, or of an assumed size when that is null. */
export function estimateMediaTokens(kind: MediaKind, byteCount: number | null): number {
  const { floor, bytesPerToken } = RULES[kind];
  return Math.max(floor, Math.ceil((byteCount ?? ASSUMED_BYTES[kind]) / bytesPerToken));
}

/** Bytes that a base64 text decodes to. */
export function decodedBytes(base64Length: number): number {
  return Math.floor((base64Length * 3) / 4);
}

/** By media type such as `image/png`; whatever is not image, audio or video is a document. */
export function mediaKindOf(mediaType: string): MediaKind {
  const family = mediaType.slice(0, mediaType.indexOf('/')).toLowerCase();
  return family === 'image' || family === 'audio' || family === 'video' ? family : 'document';
}
