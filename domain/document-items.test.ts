import { describe, expect, test } from 'vitest';
import type { DocumentColumn } from './document.ts';
import { type CountedFile, itemMeasure, wishedFeatures } from './document-items.ts';
import { extractionRequest } from './extraction-request.ts';
import { FEATURE } from './request-features.ts';

const columns: readonly DocumentColumn[] = [{ name: 'total', description: null, type: 'currency', required: true }];
const none = { pages: null, textTokens: null, width: null, height: null };
const pdf: CountedFile = { ...none, mediaType: 'application/pdf', bytes: 30_000, pages: 2, textTokens: 900 };
const scan: CountedFile = { ...pdf, textTokens: 0 };
const image: CountedFile = { ...none, mediaType: 'image/png', bytes: 10_000, width: 800, height: 600 };
const csv: CountedFile = { ...none, mediaType: 'text/csv', bytes: 500, textTokens: 150 };

function measureFor(...refused: readonly ('DOCUMENT_INPUT' | 'IMAGE_INPUT' | 'STRUCTURED_OUTPUT')[]) {
  const refuses = refused.map((feature) => ({ feature, message: 'no' }));
  return itemMeasure({ capability: { refuses }, dialect: 'openai', columns, maxOutputTokens: 16_000 });
}

describe('the item of a document', () => {
  test('is as the target takes the document, and asks for no more', () => {
    const all = measureFor();
    const { DOCUMENT_INPUT, IMAGE_INPUT, STRUCTURED_OUTPUT } = FEATURE;
    expect(all(pdf)).toMatchObject({ form: 'file', features: DOCUMENT_INPUT | STRUCTURED_OUTPUT });
    expect(all(image)).toMatchObject({ form: 'image', features: IMAGE_INPUT | STRUCTURED_OUTPUT });
    expect(all(csv)).toMatchObject({ form: 'text', features: STRUCTURED_OUTPUT });
    const few = measureFor('DOCUMENT_INPUT', 'IMAGE_INPUT', 'STRUCTURED_OUTPUT');
    expect(few(pdf)).toMatchObject({ form: 'text', features: 0 });
    expect(few(image)).toMatchObject({ form: null, features: 0, inputTokens: 0 });
  });

  test('is capped with no more than the model writes', () => {
    expect(measureFor()({ ...pdf, pages: 500, textTokens: 500_000 }).outputTokens).toBe(16_000);
  });

  test('is no smaller than its request will be', () => {
    const text = 'a,"b"\n1,2\n'.repeat(50);
    const content = { form: 'text', text } as const;
    const request = extractionRequest({ columns, content, isSchemaTaken: true, maxOutputTokens: 16_000 });
    const measured = measureFor()({ ...csv, bytes: text.length });
    expect(measured.bodyBytes).toBeGreaterThanOrEqual(JSON.stringify(request).length);
    const base64 = Buffer.alloc(pdf.bytes).toString('base64');
    const file = { form: 'file', mediaType: 'application/pdf', base64 } as const;
    const withFile = extractionRequest({ columns, content: file, isSchemaTaken: true, maxOutputTokens: 16_000 });
    expect(measureFor()(pdf).bodyBytes).toBeGreaterThanOrEqual(JSON.stringify(withFile).length);
  });

  test('of a repair has the reply that is to be mended besides', () => {
    const measure = measureFor();
    expect(measure({ ...pdf, repairTokens: 700 }).inputTokens).toBe(measure(pdf).inputTokens + 700);
  });
});

test('scans and images are wished to be seen, text is not', () => {
  expect(wishedFeatures([pdf, csv])).toBe(0);
  expect(wishedFeatures([pdf, scan])).toBe(FEATURE.DOCUMENT_INPUT);
  expect(wishedFeatures([scan, image])).toBe(FEATURE.DOCUMENT_INPUT | FEATURE.IMAGE_INPUT);
});
