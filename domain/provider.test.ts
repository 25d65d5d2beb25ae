import { expect, test } from 'vitest';
import { ENDPOINT_PROVIDERS, ENDPOINTS, isProvider } from './provider.ts';

test('every endpoint has a provider, and a native one has only its own', () => {
  expect(ENDPOINTS.filter((endpoint) => ENDPOINT_PROVIDERS[endpoint].length === 0)).toEqual([]);
  expect(ENDPOINTS.filter((endpoint) => ENDPOINT_PROVIDERS[endpoint].length === 1)).toEqual([
    'responses',
    'messages',
    'generate_content',
    'moderations',
  ]);
});

test.each([
  ['openai', true],
  ['OpenAI', false],
  ['length', false],
])('%s is a provider: %s', (name, expected) => {
  expect(isProvider(name)).toBe(expected);
});
