import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { DocumentColumn } from './document.ts';
import { type CountedDocument, extractionEstimate } from './document-tokens.ts';
import type { DocumentForm } from './extraction-request.ts';
import { DIALECTS, type Dialect } from './provider.ts';

const COLUMNS: readonly DocumentColumn[] = [
  { name: 'date', description: null, type: 'date', required: true },
  { name: 'total', description: null, type: 'currency', required: false },
];
const NOTHING: CountedDocument = { pages: null, textTokens: null, width: null, height: null };

function input(document: Partial<CountedDocument>, form: DocumentForm, dialect: Dialect): number {
  const { inputTokens } = extractionEstimate({ dialect, columns: COLUMNS, isSchemaTaken: true });
  return inputTokens({ ...NOTHING, ...document }, form);
}

function output(document: Partial<CountedDocument>, columns = COLUMNS): number {
  const { outputTokens } = extractionEstimate({ dialect: 'openai', columns, isSchemaTaken: true });
  return outputTokens({ ...NOTHING, ...document });
}

/** What the document itself takes, beside the prompt and the schema. */
function own(document: Partial<CountedDocument>, form: DocumentForm, dialect: Dialect): number {
  return input(document, form, dialect) - input({ textTokens: 0 }, 'text', dialect);
}

test.for([
  // Measured of one page: 2,350 with some 500 tokens of text, 1,600 scanned; Gemini 561 either way.
  { dialect: 'anthropic', pages: 1, textTokens: 600, tokens: 2_410 },
  { dialect: 'anthropic', pages: 1, textTokens: 0, tokens: 1_600 },
  { dialect: 'gemini', pages: 10, textTokens: 6_000, tokens: 5_600 },
  { dialect: 'openai', pages: 2, textTokens: 1_000, tokens: 2 * 2_642 + 1_000 },
] as const)('counts a PDF of $pages pages at $dialect', ({ dialect, pages, textTokens, tokens }) => {
  expect(own({ pages, textTokens }, 'file', dialect)).toBe(tokens);
});

test.for([
  { dialect: 'anthropic', width: 1_000, height: 750, tokens: 1_000 },
  { dialect: 'anthropic', width: 6_000, height: 6_000, tokens: 4_784 },
  { dialect: 'anthropic', width: null, height: null, tokens: 4_784 },
  { dialect: 'openai', width: 320, height: 320, tokens: 172 },
  { dialect: 'openai', width: 9_000, height: 9_000, tokens: 2_642 },
  { dialect: 'gemini', width: 100, height: 100, tokens: 1_120 },
  { dialect: 'gemini', width: 3_072, height: 1_536, tokens: 258 * 8 },
] as const)('counts an image of $width × $height at $dialect', ({ dialect, width, height, tokens }) => {
  expect(own({ width, height }, 'image', dialect)).toBe(tokens);
});

test('counts text as it was counted at upload, and what could not be counted by pages', () => {
  expect(own({ textTokens: 5_000 }, 'text', 'openai')).toBe(5_000);
  expect(own({ textTokens: 5_000 }, 'text', 'anthropic')).toBe(6_750);
  expect(own({ pages: 3 }, 'text', 'gemini')).toBe(2_400);
});

test('counts the columns, and the schema where it is sent', () => {
  const tokens = (columns: readonly DocumentColumn[], isSchemaTaken = true) =>
    extractionEstimate({ dialect: 'openai', columns, isSchemaTaken }).inputTokens(
      { ...NOTHING, textTokens: 10 },
      'text',
    );
  const one = tokens(COLUMNS.slice(1));
  expect(tokens(COLUMNS)).toBeGreaterThan(one + 50);
  expect(one).toBeGreaterThan(300);
});

test('leaves more room for rows the more pages, columns or text there are', () => {
  expect(output({ pages: 1, textTokens: 10 })).toBe(4_096);
  expect(output({ width: 100, height: 100 })).toBe(4_096);
  expect(output({ pages: 10 })).toBeGreaterThan(15_000);
  expect(output({ pages: 10 }, COLUMNS.slice(1))).toBeLessThan(output({ pages: 10 }));
  expect(output({ pages: 10, textTokens: 0 })).toBe(output({ pages: 10 }));
  expect(output({ pages: 10, textTokens: 1_000 })).toBeLessThan(output({ pages: 10 }));
  expect(output({ textTokens: 20_000 })).toBeGreaterThan(100_000);
  expect(output({ pages: 3, textTokens: 90_000 })).toBe(output({ pages: 3 }));
});

test('holds the rows of any table that is written out in the reply', () => {
  const rows = fc.integer({ min: 1, max: 5_000 });
  fc.assert(
    fc.property(rows, (count) => {
      // A line of a CSV such as `2026-08-19,12.50` is some 10 tokens; as a row of the reply some 40.
      expect(output({ textTokens: count * 10 })).toBeGreaterThanOrEqual(count * 40);
    }),
  );
});

test('gives whole numbers for any counts', () => {
  const count = fc.option(fc.integer({ min: 0, max: 20_000 }));
  const forms = fc.constantFrom<DocumentForm>('file', 'image', 'text');
  const documents = fc.record({ pages: count, textTokens: count, width: count, height: count });
  fc.assert(
    fc.property(documents, forms, fc.constantFrom(...DIALECTS), (document, form, dialect) => {
      expect(Number.isSafeInteger(input(document, form, dialect))).toBe(true);
      expect(Number.isSafeInteger(output(document))).toBe(true);
    }),
  );
});
