import type { DocumentFault, DocumentLimits } from './document-facts.ts';
import { type ErrorCode, GatewayError } from './gateway-error.ts';

const FIELD = { field: 'file' };
const NOT_STORED = 'Nothing was stored.';

const CODE_OF = {
  empty: 'document_empty',
  unsupported: 'document_type_unsupported',
  encrypted: 'document_encrypted',
  corrupt: 'document_corrupt',
  too_many_pages: 'document_too_large',
  too_many_pixels: 'document_too_large',
  costly: 'document_too_large',
} as const satisfies { readonly [fault in DocumentFault]: ErrorCode };

/** What the uploader of a file with a fault is told: the field, the limit where there is one, and what to do. */
export function documentRefusal(fault: DocumentFault, limits: DocumentLimits): GatewayError {
  return new GatewayError(CODE_OF[fault], `file: ${reasonOf(fault, limits)} ${NOT_STORED}`, FIELD);
}

/** For a file that is cut off while it comes in. */
export function fileTooLarge({ maxBytes }: DocumentLimits): GatewayError {
  const message = `file: it is larger than ${maxBytes} bytes, the most that one document may have. ${NOT_STORED} Split it.`;
  return new GatewayError('document_too_large', message, FIELD);
}

function reasonOf(fault: DocumentFault, { maxPages, maxPixels }: DocumentLimits): string {
  switch (fault) {
    case 'empty':
      return 'it is empty. Send a file with something in it.';
    case 'unsupported':
      return 'by its content it is none of PDF, PNG, JPEG, WebP, CSV and TXT. Text has to be UTF-8, or UTF-16 with a byte order mark.';
    case 'encrypted':
      return 'it is an encrypted PDF. Save it without a password and without restrictions.';
    case 'corrupt':
      return 'it is damaged or cut short, and cannot be read. Save or send it again.';
    case 'too_many_pages':
      return `it has more than ${maxPages} pages, the most that one document may have. Split it.`;
    case 'too_many_pixels':
      return `it has more than ${maxPixels} pixels, the most that one image may have. Scale it down.`;
    case 'costly':
      return 'reading it takes more time or memory than a document may. Save it again, simpler, or split it.';
  }
}
