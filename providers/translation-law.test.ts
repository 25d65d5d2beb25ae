import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FEATURES, type Feature, hasFeature } from '../domain/request-features.ts';
import { inspectRequest } from '../domain/request-inspection.ts';
import { anyChatRequest } from '../domain/testing/any-chat-request.ts';
import { testCatalogue } from '../domain/testing/test-catalogue.ts';
import { translateChatRequest } from './anthropic/chat-request.ts';
import { toGenerateContent } from './gemini/chat-request.ts';

type ApiVersion = '2026-10-21' | '2023-06-01';
const anthropic = (apiVersion: ApiVersion) => ({
  refuses: refusalsOf('anthropic', 'claude-opus-5', apiVersion),
  translate: (request: Record<string, unknown>) =>
    translateChatRequest(request, { model: 'claude-opus-5', defaultMaxOutputTokens: 100, apiVersion }),
});

describe.each([
  ['Anthropic', anthropic('2026-10-21')],
  ['Anthropic under its older API version', anthropic('2023-06-01')],
  [
    'Gemini',
    {
      refuses: refusalsOf('gemini', 'gemini-2.5-pro', '2026-10-21'),
      translate: (request: Record<string, unknown>) => toGenerateContent(request, { model: 'gemini-2.5-pro' }),
    },
  ],
])('%s', (_name, { refuses, translate }) => {
  test('can be asked for every well-formed chat completion of which the matrix refuses nothing', () => {
    let carried = 0;
    fc.assert(
      fc.property(anyChatRequest, (request) => {
        const { features, problems } = inspectRequest('chat.completions', request);
        const refused = FEATURES.filter((feature) => hasFeature(features, feature) && refuses.includes(feature));
        if (problems.length > 0 || refused.length > 0) return;
        expect(() => translate(request)).not.toThrow();
        carried += 1;
      }),
      { numRuns: 5_000 },
    );
    expect(carried).toBeGreaterThan(100);
  });
});

function refusalsOf(provider: string, model: string, apiVersion: ApiVersion): readonly Feature[] {
  const row = testCatalogue({}, apiVersion).findCapability(provider, 'chat.completions', model);
  return row?.refuses.map(({ feature }) => feature) ?? [];
}
