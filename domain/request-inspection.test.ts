import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ENDPOINTS } from './provider.ts';
import { FEATURES, FEATURES_OF_ENDPOINT, hasFeature } from './request-features.ts';
import { inspectRequest } from './request-inspection.ts';

const member = fc.constantFrom(
  'messages',
  'role',
  'content',
  'type',
  'text',
  'input',
  'contents',
  'parts',
  'tools',
  'system',
  'model',
  'generationConfig',
  'image_url',
  'source',
  '__proto__',
);
const { value: anyBody } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom(null, true, 0, -1, 1.5, '', 'user', 'text', 'image_url', 'function', 'base64'),
    fc.string(),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(member, tie('value'), { maxKeys: 5 }),
  ),
}));

test('judges any JSON without throwing, and calls it malformed exactly when it names a problem', () => {
  fc.assert(
    fc.property(fc.constantFrom(...ENDPOINTS), anyBody, (endpoint, body) => {
      const inspection = inspectRequest(endpoint, body);
      expect(hasFeature(inspection.features, 'MALFORMED')).toBe(inspection.problems.length > 0);
      expect(inspection.inputTokens).toBeGreaterThanOrEqual(0);
      for (const { field } of inspection.problems) expect(field).toMatch(/^request/);
    }),
    { numRuns: 1_000 },
  );
});

test('asks for nothing that an endpoint is not said to have', () => {
  fc.assert(
    fc.property(fc.constantFrom(...ENDPOINTS), anyBody, (endpoint, body) => {
      const { features } = inspectRequest(endpoint, body);
      const asked = FEATURES.filter((feature) => feature !== 'MALFORMED' && hasFeature(features, feature));
      expect(FEATURES_OF_ENDPOINT[endpoint]).toEqual(expect.arrayContaining(asked));
    }),
    { numRuns: 1_000 },
  );
});

test('leaves the request as it was', () => {
  const request = {
    messages: [{ role: 'user', content: [{ type: 'text', text: 'x' }] }],
    tools: [{ type: 'function' }],
  };
  const before = structuredClone(request);
  inspectRequest('chat.completions', request);
  expect(request).toEqual(before);
});
