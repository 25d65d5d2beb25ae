import { describe, expect, test } from 'vitest';
import type { CapabilityOverride } from './catalogue.ts';
import { rates } from './price-row.ts';
import { testCatalogue } from './testing/test-catalogue.ts';

function override(overrides: Partial<CapabilityOverride> = {}): CapabilityOverride {
  return {
    provider: 'openai',
    endpoint: 'chat.completions',
    model: 'gpt-6*',
    feature: 'SEED',
    isAllowed: false,
    reason: 'Seeds are ignored.',
    ...overrides,
  };
}

describe('an override', () => {
  const refuses = (overrides: readonly CapabilityOverride[], model: string) =>
    testCatalogue({ capabilities: overrides })
      .findCapability('openai', 'chat.completions', model)
      ?.refuses.map(({ feature }) => feature) ?? [];

  test('refuses a feature for the models it names, and keeps what their rows refuse', () => {
    expect(refuses([override()], 'gpt-6-luna')).toEqual(expect.arrayContaining(['STREAM', 'SEED']));
    expect(refuses([override()], 'gpt-6.2-sol')).toEqual(expect.arrayContaining(['REASONING_OFF', 'SEED']));
    expect(refuses([override()], 'gpt-5.6-luna')).not.toContain('SEED');
  });

  test('allows what a row refuses', () => {
    const allowed = override({ model: 'gpt-4o', feature: 'AUDIO_INPUT', isAllowed: true });
    expect(refuses([allowed], 'gpt-4o')).not.toContain('AUDIO_INPUT');
    expect(refuses([allowed], 'gpt-4o-mini')).toContain('AUDIO_INPUT');
  });

  test('that comes later wins, for the models both speak of', () => {
    const both = [override({ model: '*' }), override({ model: 'gpt-6-luna', isAllowed: true })];
    expect(refuses(both, 'gpt-6-luna')).not.toContain('SEED');
    expect(refuses(both, 'gpt-6-sol')).toContain('SEED');
    expect(refuses(both.toReversed(), 'gpt-6-luna')).toContain('SEED');
  });

  test('takes a model out of batch mode', () => {
    const catalogue = testCatalogue({ capabilities: [override({ feature: null })] });
    expect(catalogue.findCapability('openai', 'chat.completions', 'gpt-6-sol')?.isBatchEligible).toBe(false);
    expect(catalogue.findCapability('openai', 'responses', 'gpt-6-sol')?.isBatchEligible).toBe(true);
  });

  test('of an endpoint that the provider does not have changes nothing', () => {
    const catalogue = testCatalogue({
      capabilities: [override({ endpoint: 'messages', feature: null, isAllowed: true })],
    });
    expect(catalogue.capabilities).toEqual(testCatalogue().capabilities);
  });
});

test('a price of an admin is found before the published one', () => {
  const price = {
    provider: 'gemini',
    model: 'gemini-2.5-pro',
    from: '2026-01-01',
    currency: 'USD',
    kind: 'chat',
    standard: rates('9', '9', '9', '9'),
    batch: rates('9', '9', '9', '9'),
    batchBasis: 'override',
    maxOutputTokens: 9,
  } as const;
  expect(testCatalogue({ prices: [price] }).prices.find('gemini', 'gemini-2.5-pro', new Date('2026-11-30'))).toBe(
    price,
  );
});
