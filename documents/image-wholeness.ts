import { crc32 } from 'node:zlib';

const PNG_SIGNATURE_BYTES = 8;
/** Length, type and checksum around the data of a chunk (PNG specification, 5.3). */
const PNG_CHUNK_OVERHEAD = 12;

/** Every chunk up to IEND is there with the checksum it names. What follows IEND is ignored, as readers do. */
export function isWholePng(bytes: Uint8Array): boolean {
  const view = viewOf(bytes);
  let hasData = false;
  for (let at = PNG_SIGNATURE_BYTES; at + PNG_CHUNK_OVERHEAD <= bytes.length; ) {
    const length = view.getUint32(at);
    const end = at + PNG_CHUNK_OVERHEAD + length;
    if (end > bytes.length) return false;
    if (crc32(bytes.subarray(at + 4, end - 4)) !== view.getUint32(end - 4)) return false;
    const type = textOf(bytes, at + 4);
    if (type === 'IDAT') hasData = true;
    if (type === 'IEND') return hasData;
    at = end;
  }
  return false;
}

const MARKER = 0xff;
const START_OF_SCAN = 0xda;
const END_OF_IMAGE = 0xd9;

/** A scan begins, and the image says where it ends (ITU-T T.81, annex B). */
export function isWholeJpeg(bytes: Uint8Array): boolean {
  const view = viewOf(bytes);
  let hasScan = false;
  let at = 2;
  while (at + 1 < bytes.length) {
    if (bytes[at] !== MARKER) return false;
    const code = bytes[at + 1] ?? 0;
    if (code === END_OF_IMAGE) return hasScan;
    if (code === MARKER) {
      at += 1;
      continue;
    }
    if (isAlone(code)) {
      at += 2;
      continue;
    }
    if (at + 4 > bytes.length) return false;
    const length = view.getUint16(at + 2);
    if (length < 2) return false;
    at += 2 + length;
    if (code !== START_OF_SCAN) continue;
    hasScan = true;
    at = endOfScan(bytes, at);
  }
  return false;
}

/** Where the next marker is that is no part of the coded data. */
function endOfScan(bytes: Uint8Array, start: number): number {
  let at = start;
  while (at + 1 < bytes.length) {
    const next = bytes.indexOf(MARKER, at);
    if (next === -1) return bytes.length;
    const code = bytes[next + 1] ?? 0;
    if (code !== 0 && !isAlone(code)) return next;
    at = next + 2;
  }
  return bytes.length;
}

/** Markers without a length: restarts, and TEM. */
function isAlone(code: number): boolean {
  return (code >= 0xd0 && code <= 0xd7) || code === 0x01;
}

/** Of a RIFF container: its name and its length. */
const RIFF_HEADER_BYTES = 8;

/** As long as its container says, with chunks that fill it (WebP container specification). */
export function isWholeWebp(bytes: Uint8Array): boolean {
  const view = viewOf(bytes);
  if (bytes.length < 20) return false;
  const end = RIFF_HEADER_BYTES + view.getUint32(4, true);
  if (end > bytes.length) return false;
  let hasImage = false;
  let at = 12;
  while (at + RIFF_HEADER_BYTES <= end) {
    const type = textOf(bytes, at);
    if (type === 'VP8 ' || type === 'VP8L' || type === 'ANMF') hasImage = true;
    const length = view.getUint32(at + 4, true);
    at += RIFF_HEADER_BYTES + length + (length % 2);
  }
  // The last chunk may do without its padding.
  return hasImage && at <= end + 1;
}

function textOf(bytes: Uint8Array, at: number): string {
  return String.fromCharCode(...bytes.subarray(at, at + 4));
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}
