import { expect, test } from 'vitest';
import { ENDPOINT_DIALECTS, ENDPOINTS, PROVIDER_NAME } from './provider.ts';

test('every endpoint has a dialect, and a native one has only its own', () => {
  expect(ENDPOINTS.filter((endpoint) => ENDPOINT_DIALECTS[endpoint].length === 0)).toEqual([]);
  expect(ENDPOINTS.filter((endpoint) => ENDPOINT_DIALECTS[endpoint].length === 1)).toEqual([
    'responses',
    'messages',
    'generate_content',
    'moderations',
  ]);
});

test.each([
  ['openai', true],
  ['azure-eu1', true],
  ['OpenAI', false],
  ['1st', false],
  ['a/b', false],
  ['', false],
  ['a'.repeat(33), false],
])('%j is the name of a provider: %s', (name, expected) => {
  expect(PROVIDER_NAME.test(name)).toBe(expected);
});
