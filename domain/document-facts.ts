import type { DocumentType } from './document.ts';

/** What a file may be at most to be taken as a document. */
export interface DocumentLimits {
  readonly maxBytes: number;
  readonly maxPages: number;
  /** Width times height of an image. */
  readonly maxPixels: number;
}

/** Of an image; more than any camera or scanner in use makes of a page. */
export const MAX_DOCUMENT_PIXELS = 100_000_000;

/** What a file was found to be, and what reading it will take. Null where that has no meaning for its type. */
export interface DocumentFacts {
  readonly mediaType: DocumentType;
  readonly pages: number | null;
  /** Of the text in it, counted cautiously; 0 for a scan. */
  readonly textTokens: number | null;
  readonly width: number | null;
  readonly height: number | null;
}

/** Why a file is no document that can be taken. `costly`: reading it takes more time or memory than any document should. */
export type DocumentFault =
  | 'empty'
  | 'unsupported'
  | 'encrypted'
  | 'corrupt'
  | 'too_many_pages'
  | 'too_many_pixels'
  | 'costly';

export type Recognition =
  | { readonly kind: 'document'; readonly facts: DocumentFacts }
  | { readonly kind: 'fault'; readonly fault: DocumentFault };
