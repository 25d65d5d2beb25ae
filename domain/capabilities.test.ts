import { describe, expect, test } from 'vitest';
import { ENDPOINT_DIALECTS, ENDPOINTS, type Endpoint } from './provider.ts';
import { FEATURES_OF_ENDPOINT, type Feature } from './request-features.ts';
import { testCatalogue } from './testing/test-catalogue.ts';

const catalogue = testCatalogue();
function refused(provider: string, endpoint: Endpoint, model: string, from = catalogue): readonly Feature[] {
  const features = from.findCapability(provider, endpoint, model)?.refuses.map(({ feature }) => feature) ?? [];
  return FEATURES_OF_ENDPOINT[endpoint].filter((feature) => features.includes(feature));
}

test('every provider has a row for every model on each endpoint of its dialect, and none on others', () => {
  for (const { provider, dialect } of catalogue.profiles) {
    const having = ENDPOINTS.filter((endpoint) => catalogue.findCapability(provider, endpoint, 'whatever') !== null);
    expect(having).toEqual(ENDPOINTS.filter((endpoint) => ENDPOINT_DIALECTS[endpoint].includes(dialect)));
  }
});

describe.each(catalogue.capabilities)('$provider, $endpoint, $models', ({ refuses, limits, lifetime, source }) => {
  test('names its source, and what to do about every refusal', () => {
    expect(source).not.toBe('');
    expect(new Set(refuses.map(({ feature }) => feature)).size).toBe(refuses.length);
    for (const { message } of refuses) expect(message).toMatch(/^[A-Z].*\.$/);
  });

  test('has limits that an item fits', () => {
    expect(limits.maxItemBytes * 2).toBeLessThanOrEqual(limits.maxBytes);
    expect(limits.maxItems).toBeGreaterThan(1);
    expect(lifetime.resultRetentionDays).toBeGreaterThan(0);
  });
});

test.each<[string, Endpoint, string]>([
  ['openai', 'chat.completions', 'gpt-4o'],
  ['anthropic', 'chat.completions', 'claude-haiku-4-5'],
  ['gemini', 'chat.completions', 'gemini-2.5-pro'],
  ['gemini', 'generate_content', 'gemini-2.5-pro'],
])('%s refuses on %s what streams or has no price', (provider, endpoint, model) => {
  const unpriced: Feature[] = ['STREAM', 'SERVER_TOOLS', 'AUDIO_INPUT', 'MEDIA_OUTPUT', 'SERVICE_TIER'];
  expect(refused(provider, endpoint, model)).toEqual(expect.arrayContaining(unpriced));
});

test('OpenAI refuses no reasoning where the model always reasons', () => {
  const models = ['gpt-6.1-sol', 'gpt-6.2-sol', 'gpt-6.2-astra', 'gpt-6.1-terra', 'gpt-6-sol'];
  const always = models.filter((model) => refused('openai', 'responses', model).includes('REASONING_OFF'));
  expect(always).toEqual(['gpt-6.1-sol', 'gpt-6.2-sol', 'gpt-6.2-astra']);
});

test('Anthropic refuses a forced tool where the model does', () => {
  const models = [
    'claude-opus-5-5',
    'claude-fable-5-1',
    'claude-fable-5',
    'claude-sonnet-5-5',
    'claude-sonnet-5',
    'claude-opus-5',
  ];
  for (const endpoint of ['messages', 'chat.completions'] as const) {
    const never = models.filter((model) => refused('anthropic', endpoint, model).includes('FORCED_TOOL'));
    expect(never).toEqual(['claude-opus-5-5', 'claude-fable-5-1', 'claude-fable-5', 'claude-sonnet-5-5']);
  }
});

test('Anthropic refuses sampling under the API version that does', () => {
  const older = testCatalogue({}, '2023-06-01');
  expect(refused('anthropic', 'messages', 'claude-opus-5')).toContain('SAMPLING');
  expect(refused('anthropic', 'messages', 'claude-opus-5', older)).not.toContain('SAMPLING');
  expect(refused('anthropic', 'chat.completions', 'claude-opus-5', older)).toContain('WIDE_SAMPLING');
});

test('Gemini embeds one text at a time, and never token ids', () => {
  expect(refused('gemini', 'embeddings', 'gemini-embedding-001')).toEqual([
    'END_USER',
    'TOKEN_INPUT',
    'MULTIPLE_INPUTS',
    'PROVIDER_SPECIFIC',
    'UNKNOWN_FIELD',
  ]);
});

test.each([
  ['gemini-2.5-flash', 3_000_000],
  ['gemini-2.5-flash-lite', 10_000_000],
  ['gemini-3.1-pro-preview', 5_000_000],
  ['gemini-4-neon', null],
])('%s may have %s input tokens waiting', (model, maxQueuedTokens) => {
  expect(catalogue.findCapability('gemini', 'chat.completions', model)?.limits.maxQueuedTokens).toBe(maxQueuedTokens);
});
