import { fileTypeFromBuffer } from 'file-type';
import { imageSize } from 'image-size';
import type { DocumentType } from '../domain/document.ts';
import type { DocumentFault, DocumentLimits, Recognition } from '../domain/document-facts.ts';
import { isWholeJpeg, isWholePng, isWholeWebp } from './image-wholeness.ts';
import { recognisePdf } from './recognise-pdf.ts';
import { recogniseText } from './recognise-text.ts';

type ImageType = Extract<DocumentType, `image/${string}`>;

const WHOLENESS: { readonly [type in ImageType]: (bytes: Uint8Array) => boolean } = {
  'image/png': isWholePng,
  'image/jpeg': isWholeJpeg,
  'image/webp': isWholeWebp,
};

/** In which a PDF's header has to come (PDF 1.7, implementation note 13). */
const HEAD_BYTES = 1_024;

/** Written in text, and still none that is meant to be read as one. */
const TEXT_FORMATS = /xml|rtf|postscript|eps|pgp|x-ms-regedit|calendar|vcard|vtt/;

/**
 * What a file is by its content, whatever it is called: by its magic number, or as text. It is looked at to its end, so that
 * one that is cut short or encrypted is a fault here and not later. `limits.maxBytes` is the caller's to keep. Meant to run in
 * a thread of its own: a file made to be large once it is unpacked is held by the thread's bounds.
 */
export async function recognise(bytes: Uint8Array, limits: DocumentLimits): Promise<Recognition> {
  if (bytes.length === 0) return faulty('empty');
  // Some magic numbers of audio begin as the byte order mark of UTF-16 does.
  const type = hasUtf16Mark(bytes) ? undefined : await typeOf(bytes);
  switch (type) {
    case 'application/pdf':
      return recognisePdf(bytes, limits);
    case 'image/png':
    case 'image/apng':
      return recogniseImage(bytes, 'image/png', limits);
    case 'image/jpeg':
    case 'image/webp':
      return recogniseImage(bytes, type, limits);
    default:
      // Some magic numbers are words that a text may begin with (`BM`, `GIF`, `FORM`), and binary content is no text.
      return type !== undefined && TEXT_FORMATS.test(type) ? faulty('unsupported') : recogniseText(bytes);
  }
}

/** White space before the header of a PDF, as some scanners write it, is read over by every reader. */
async function typeOf(bytes: Uint8Array): Promise<string | undefined> {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, HEAD_BYTES)).toString('latin1');
  if (/^\s*%PDF-/.test(head)) return 'application/pdf';
  return (await fileTypeFromBuffer(bytes))?.mime;
}

function recogniseImage(bytes: Uint8Array, mediaType: ImageType, { maxPixels }: DocumentLimits): Recognition {
  const size = sizeOf(bytes);
  if (size === null) return faulty('corrupt');
  const { width, height } = size;
  if (width * height > maxPixels) return faulty('too_many_pixels');
  if (!WHOLENESS[mediaType](bytes)) return faulty('corrupt');
  return { kind: 'document', facts: { mediaType, pages: null, textTokens: null, width, height } };
}

/** Null where the header does not say. */
function sizeOf(bytes: Uint8Array): { readonly width: number; readonly height: number } | null {
  try {
    const { width, height } = imageSize(bytes);
    return width > 0 && height > 0 ? { width, height } : null;
  } catch {
    return null;
  }
}

function hasUtf16Mark([first, second]: Uint8Array): boolean {
  return (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
}

function faulty(fault: DocumentFault): Recognition {
  return { kind: 'fault', fault };
}
