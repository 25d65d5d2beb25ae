import { describe, expect, test } from 'vitest';
import { FEATURE, hasFeature } from './request-features.ts';
import { inspectRequest } from './request-inspection.ts';

describe('embeddings', () => {
  const inspect = (request: unknown) => inspectRequest('embeddings', request);

  test.each([
    ['a string', 'Hello', 1],
    ['a list of strings', ['Hello', 'World', 'x'], 3],
    ['token ids', [1, 2, 3, 4], 1],
    ['a list of lists of token ids', [[1, 2], [3]], 2],
  ])('takes %s', (_what, input, embeddingInputs) => {
    const inspection = inspect({ input });
    expect(inspection).toMatchObject({ problems: [], embeddingInputs, maxOutputTokens: 0 });
    expect(inspection.inputTokens).toBeGreaterThan(0);
  });

  test('counts token ids exactly and marks them', () => {
    const inspection = inspect({ input: [[1, 2], [3]] });
    expect(inspection.inputTokens).toBe(3);
    expect(hasFeature(inspection.features, 'TOKEN_INPUT')).toBe(true);
  });

  test.each([
    [{ input: 'x' }, 0],
    [{ input: ['x'] }, 0],
    [{ input: [1, 2] }, FEATURE.TOKEN_INPUT],
    [{ input: ['x', 'y'] }, FEATURE.MULTIPLE_INPUTS],
    [{ input: 'x', encoding_format: 'float', dimensions: 3 }, 0],
    [{ input: 'x', encoding_format: 'base64' }, FEATURE.PROVIDER_SPECIFIC],
    [{ input: 'x', user: 'u', instruction: 'x' }, FEATURE.END_USER | FEATURE.UNKNOWN_FIELD],
  ])('%j asks for %i', (request, features) => {
    expect(inspect(request)).toMatchObject({ problems: [], features });
  });

  test.each([
    [{}, 'request.input'],
    [{ input: '' }, 'request.input'],
    [{ input: [] }, 'request.input'],
    [{ input: 7 }, 'request.input'],
    [{ input: {} }, 'request.input'],
    [{ input: ['x', ''] }, 'request.input[1]'],
    [{ input: ['x', 7] }, 'request.input[1]'],
    [{ input: [[1], []] }, 'request.input[1]'],
    [{ input: [[1], [-1]] }, 'request.input[1]'],
    [{ input: Array.from({ length: 2_049 }, () => 'x') }, 'request.input'],
    [{ input: 'x', dimensions: 0 }, 'request.dimensions'],
    [{ input: 'x', encoding_format: 'hex' }, 'request.encoding_format'],
  ])('%j is at fault in %s', (request, field) => {
    expect(inspect(request).problems.map((problem) => problem.field)).toEqual([field]);
  });
});

describe('moderations', () => {
  const inspect = (request: unknown) => inspectRequest('moderations', request);

  test.each([
    ['a string', 'Hello'],
    ['a list of strings', ['Hello', 'World']],
    [
      'a list of parts',
      [
        { type: 'text', text: 'x' },
        { type: 'image_url', image_url: { url: 'https://x' } },
      ],
    ],
  ])('takes %s', (_what, input) => {
    const inspection = inspect({ input, model: 'omni-moderation-latest' });
    expect(inspection).toMatchObject({ problems: [], model: 'omni-moderation-latest', embeddingInputs: 0 });
    expect(inspection.inputTokens).toBeGreaterThan(0);
  });

  test.each([
    [{}, 'request.input'],
    [{ input: [] }, 'request.input'],
    [{ input: [7] }, 'request.input[0]'],
    [{ input: [{ type: 'text' }] }, 'request.input[0]'],
    [{ input: [{ type: 'image_url', image_url: 'x' }] }, 'request.input[0]'],
    [{ input: 'x', model: ' ' }, 'request.model'],
  ])('%j is at fault in %s', (request, field) => {
    expect(inspect(request).problems.map((problem) => problem.field)).toEqual([field]);
  });
});
