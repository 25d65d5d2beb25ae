import { expect, test } from 'vitest';
import { DOCUMENT_ERROR_CODES, documentErrorMessage } from './document-error.ts';
import { documentRefusal, fileTooLarge } from './document-refusal.ts';
import { STATUS_OF } from './gateway-error.ts';

const LIMITS = { maxBytes: 123, maxPages: 45, maxPixels: 678 };

test.each([
  ['empty', 'document_empty', 422, 'empty'],
  ['unsupported', 'document_type_unsupported', 415, 'UTF-16'],
  ['encrypted', 'document_encrypted', 422, 'password'],
  ['corrupt', 'document_corrupt', 422, 'damaged'],
  ['too_many_pages', 'document_too_large', 413, '45 pages'],
  ['too_many_pixels', 'document_too_large', 413, '678 pixels'],
  ['costly', 'document_too_large', 413, 'time or memory'],
] as const)('a file that is %s is refused as %s, naming the field and what to do', (fault, code, status, words) => {
  const error = documentRefusal(fault, LIMITS);
  expect([error.code, STATUS_OF[error.code], error.field]).toEqual([code, status, 'file']);
  expect(error.message).toMatch(/^file: .*\. Nothing was stored\.$/);
  expect(error.message).toContain(words);
});

test('one that is cut off says the limit', () => {
  expect(fileTooLarge(LIMITS)).toMatchObject({ code: 'document_too_large', field: 'file' });
  expect(fileTooLarge(LIMITS).message).toContain('123 bytes');
});

test('every processing error has words, and one of another version has some', () => {
  for (const code of DOCUMENT_ERROR_CODES) expect(documentErrorMessage(code)).toMatch(/\.$/);
  expect(documentErrorMessage('constructor')).toBe('The document could not be processed.');
});
