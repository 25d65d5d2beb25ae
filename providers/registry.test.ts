import { expect, test } from 'vitest';
import { createAdapterMakers } from './registry.ts';

const timeouts = { requestTimeoutMs: 1000, idleTimeoutMs: 1000 };
const signal = new AbortController().signal;

const none = { apiKey: null, baseUrl: null };
const settings = {
  ...timeouts,
  openai: none,
  anthropic: { ...none, apiVersion: '2026-10-21' },
  gemini: none,
} as const;

test('holds an adapter for each provider, under its own name, and one for each that is compatible with OpenAI', () => {
  const key = { apiKey: 'sk-test', baseUrl: null };
  const compatible = [
    { ...none, baseUrl: 'https://api.example/v1', provider: 'groq', auth: 'bearer', pathPrefix: '/v1' } as const,
  ];
  const makers = createAdapterMakers({
    ...timeouts,
    openai: key,
    anthropic: { ...key, apiVersion: '2026-10-21' },
    gemini: key,
    compatible,
  });
  expect(makers.map(({ provider, make }) => [provider, make('sk-test').provider])).toEqual([
    ['openai', 'openai'],
    ['anthropic', 'anthropic'],
    ['gemini', 'gemini'],
    ['groq', 'groq'],
  ]);
});

test.each(['openai', 'anthropic', 'gemini'])(
  'the adapter of %s without a credential refuses every call before it is sent, and still reads and writes lines',
  async (provider) => {
    const adapter = createAdapterMakers(settings)
      .find((maker) => maker.provider === provider)
      ?.makeRefusing();
    if (adapter === undefined) throw new Error(`${provider} has an adapter`);
    const refusal = { code: 'credential_refused', mayHaveActed: false };
    await expect(adapter.uploadInput({ path: '/dev/null', fileName: 'a.jsonl', signal })).rejects.toMatchObject(
      refusal,
    );
    await expect(adapter.retrieveBatch({ providerBatchId: 'batch_1', signal })).rejects.toMatchObject(refusal);
    const download = adapter.downloadFile({ file: { kind: 'output', fileId: 'file_1' }, signal });
    await expect(Array.fromAsync(download)).rejects.toMatchObject(refusal);
    const request = { messages: [{ role: 'user', content: 'x' }] };
    const item = {
      providerItemId: 'a-1',
      endpoint: 'chat.completions',
      model: 'm',
      request,
      defaultMaxOutputTokens: 10,
    } as const;
    expect(adapter.encodeItem(item)).toContain('a-1');
  },
);
