import { describe, expect, test } from 'vitest';
import { type ConfiguredProfile, createGatewayCatalogue } from './gateway-catalogue.ts';

const HOUSE: ConfiguredProfile = {
  name: 'house',
  region: 'ch',
  endpoints: ['chat.completions', 'embeddings'],
  models: [
    { model: 'own-model', kind: 'chat', currency: 'CHF', batch: { input: '1', output: '2' }, max_output_tokens: 4_096 },
    {
      model: 'own-vectors',
      kind: 'embedding',
      currency: 'CHF',
      from: '2026-06-01',
      batch: { input: '1', cached_input: '0.5', cache_write: '1.5', output: '0' },
      standard: { input: '3', output: '0' },
      max_output_tokens: 4_096,
    },
  ],
  limits: { max_items: 500, max_concurrent_batches: 2 },
  lifetime: { window_hours: null, on_cancel: 'nothing_kept' },
  refuses: ['structured_output', 'stream', 'token_input'],
};

function catalogueOf(...configured: readonly ConfiguredProfile[]) {
  const regions = { openai: 'eu', anthropic: 'global', gemini: 'us' };
  return createGatewayCatalogue({ anthropicApiVersion: '2026-10-21', regions, configured });
}

test('the built-in providers are in the regions given', () => {
  const { profiles } = catalogueOf();
  expect(profiles.map(({ provider, dialect, region }) => [provider, dialect, region])).toEqual([
    ['openai', 'openai', 'eu'],
    ['anthropic', 'anthropic', 'global'],
    ['gemini', 'gemini', 'us'],
  ]);
  expect(profiles.map(({ provider, prices }) => prices.every((price) => price.provider === provider))).toEqual([
    true,
    true,
    true,
  ]);
});

describe('a configured provider', () => {
  const catalogue = catalogueOf(HOUSE);
  const at = new Date('2026-11-30');

  test("speaks OpenAI's API, on the endpoints named", () => {
    expect(catalogue.findProfile('house')).toMatchObject({ dialect: 'openai', region: 'ch' });
    expect(catalogue.findCapability('house', 'embeddings', 'own-vectors')).not.toBeNull();
    expect(catalogue.findCapability('house', 'responses', 'own-model')).toBeNull();
  });

  test("has its own limits and lifetime, and OpenAI's where it says nothing", () => {
    expect(catalogue.findCapability('house', 'chat.completions', 'own-model')).toMatchObject({
      limits: { maxItems: 500, maxBytes: 200_000_000, maxCreatesPerHour: null, maxConcurrentBatches: 2 },
      lifetime: {
        windowHours: null,
        resultRetentionDays: 30,
        onExpiry: 'finished_items_kept',
        onCancel: 'nothing_kept',
      },
    });
  });

  test('refuses what is named, and what no batch mode does, where an endpoint has it', () => {
    const refused = (endpoint: 'chat.completions' | 'embeddings') =>
      catalogue.findCapability('house', endpoint, 'own-model')?.refuses.map(({ feature }) => feature);
    expect(refused('chat.completions')).toEqual(expect.arrayContaining(['STREAM', 'AUDIO_INPUT', 'STRUCTURED_OUTPUT']));
    expect(refused('embeddings')).toEqual(['TOKEN_INPUT']);
  });

  test('is priced as written', () => {
    expect(catalogue.prices.find('house', 'own-model', at)).toMatchObject({
      currency: 'CHF',
      batch: { input: '1', cachedInput: '1', cacheWrite: '1', output: '2' },
      standard: { input: '1' },
      maxOutputTokens: 4_096,
    });
    expect(catalogue.prices.find('house', 'own-vectors', at)).toMatchObject({
      batch: { cachedInput: '0.5', cacheWrite: '1.5' },
      standard: { input: '3' },
      maxOutputTokens: 0,
    });
    expect(catalogue.prices.find('house', 'own-vectors', new Date('2026-05-31'))).toBeNull();
  });

  test('that refuses no feature there is stops the gateway from starting', () => {
    expect(() => catalogueOf({ ...HOUSE, refuses: ['telepathy'] })).toThrow(/house refuses "telepathy"/);
  });
});
