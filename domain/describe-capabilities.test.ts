import { expect, test } from 'vitest';
import { describeCapabilities } from './describe-capabilities.ts';
import { FEATURES_OF_ENDPOINT } from './request-features.ts';
import { testCatalogue } from './testing/test-catalogue.ts';

const rows = describeCapabilities(testCatalogue());

test('answers every feature of the endpoint, and says why one is refused', () => {
  for (const { endpoint, features, refusals } of rows) {
    expect(features.map(({ feature }) => feature)).toEqual(FEATURES_OF_ENDPOINT[endpoint]);
    const refused = features.filter(({ isSupported }) => !isSupported).map(({ feature }) => feature);
    expect(refusals.map(({ feature }) => feature).toSorted()).toEqual(refused.toSorted());
  }
});

test('says where data is processed, and whether requests are translated', () => {
  const native = rows.filter(({ isNative }) => isNative).map(({ provider, endpoint }) => `${provider} ${endpoint}`);
  expect(new Set(native)).toEqual(
    new Set([
      'openai chat.completions',
      'openai responses',
      'openai embeddings',
      'openai moderations',
      'anthropic messages',
      'gemini generate_content',
    ]),
  );
  expect(new Set(rows.map(({ provider, region }) => `${provider} ${region}`))).toEqual(
    new Set(['openai global', 'anthropic us', 'gemini eu']),
  );
});
