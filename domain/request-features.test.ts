import { expect, test } from 'vitest';
import { ENDPOINTS } from './provider.ts';
import { FEATURE, FEATURES, FEATURES_OF_ENDPOINT, featureField, findFeature, hasFeature } from './request-features.ts';

test('every feature is a bit of its own, within a signed 32-bit column', () => {
  const bits = FEATURES.map((feature) => FEATURE[feature]);
  expect(new Set(bits).size).toBe(bits.length);
  for (const bit of bits) expect(bit > 0 && bit < 2 ** 31 && (bit & (bit - 1)) === 0).toBe(true);
});

test.each([
  ['chat.completions', 'STREAM', 'request.stream'],
  ['generate_content', 'SAMPLING', 'request.generationConfig.temperature'],
  ['messages', 'REASONING', 'request.thinking'],
  ['responses', 'IMAGE_INPUT', 'request.input'],
  ['embeddings', 'TOKEN_INPUT', 'request.input'],
  ['embeddings', 'REASONING', 'request'],
  ['chat.completions', 'UNKNOWN_FIELD', 'request'],
] as const)('%s asks for %s in %s', (endpoint, feature, field) => {
  expect(featureField(endpoint, feature)).toBe(field);
});

test('every feature has a place in every endpoint', () => {
  for (const endpoint of ENDPOINTS) {
    for (const feature of FEATURES) expect(featureField(endpoint, feature)).toMatch(/^request(\.\w+)*$/);
  }
});

test('tells bits apart', () => {
  const features = FEATURE.STREAM | FEATURE.SEED;
  expect(FEATURES.filter((feature) => hasFeature(features, feature))).toEqual(['STREAM', 'SEED']);
});

test.each([
  ['structured_output', 'STRUCTURED_OUTPUT'],
  ['STREAM', null],
  ['malformed', null],
  ['telepathy', null],
])('%s is the public name of %s', (name, feature) => {
  expect(findFeature(name)).toBe(feature);
});

test('only endpoints of several dialects have what cannot be translated', () => {
  const having = ENDPOINTS.filter((endpoint) => FEATURES_OF_ENDPOINT[endpoint].includes('PROVIDER_SPECIFIC'));
  expect(having).toEqual(['chat.completions', 'embeddings']);
});
