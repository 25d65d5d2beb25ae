import { expect, onTestFinished, test } from 'vitest';
import { sendJson, startScriptedServer } from '../../tests/contract/scripted-server.ts';
import type { CompleteInput } from '../provider.ts';
import { createGeminiProvider } from './adapter.ts';

const RESPONSE = {
  candidates: [{ content: { role: 'model', parts: [{ text: '4' }] }, finishReason: 'STOP', index: 0 }],
  usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 1 },
  modelVersion: 'gemini-2.5-flash',
};
const INPUT: CompleteInput = {
  endpoint: 'chat.completions',
  model: 'gemini-2.5-flash',
  request: { messages: [{ role: 'user', content: '2+2?' }] },
  defaultMaxOutputTokens: 100,
  signal: new AbortController().signal,
};

async function startWith({ status = 200, body }: { status?: number; body: unknown }, apiKey = 'key') {
  const server = await startScriptedServer((_, response) => sendJson(response, status, body));
  onTestFinished(() => server.close());
  const settings = { apiKey, baseUrl: server.url, requestTimeoutMs: 5000, idleTimeoutMs: 5000 };
  return { provider: createGeminiProvider(settings), server };
}

const errorOf = (code: number, status: string, message: string) => ({ error: { code, message, status } });

test('translates a neutral request and its reply, which gets an id where it has none', async () => {
  const { provider, server } = await startWith({ body: RESPONSE });
  const answer = await provider.complete(INPUT);
  expect(server.requests).toEqual(['POST /v1beta/models/gemini-2.5-flash:generateContent']);
  expect(JSON.parse(server.lastBody())).toMatchObject({ contents: [{ role: 'user', parts: [{ text: '2+2?' }] }] });
  if (answer.kind !== 'completed') throw new Error(`the request ${answer.code}`);
  expect(JSON.parse(answer.body)).toMatchObject({
    id: expect.stringMatching(/^chatcmpl-/),
    choices: [{ message: { content: '4' }, finish_reason: 'stop' }],
  });
});

test('a response is kept byte for byte, and the model is named in the path alone', async () => {
  const { provider, server } = await startWith({ body: RESPONSE });
  const request = { model: 'models/other', contents: [{ parts: [{ text: '2+2?' }] }] };
  const answer = await provider.complete({ ...INPUT, endpoint: 'generate_content', request });
  expect(JSON.parse(server.lastBody())).toEqual({ contents: request.contents });
  expect(answer).toMatchObject({ kind: 'completed', body: JSON.stringify(RESPONSE) });
});

test('an embedding is asked for by its own method', async () => {
  const { provider, server } = await startWith({ body: { embedding: { values: [0.5] } } });
  const answer = await provider.complete({ ...INPUT, endpoint: 'embeddings', request: { input: 'a' } });
  expect(server.requests).toEqual(['POST /v1beta/models/gemini-2.5-flash:embedContent']);
  expect(answer).toMatchObject({ kind: 'completed', body: expect.stringContaining('"embedding":[0.5]') });
});

test.each([
  ['a file that is gone', 403, 'PERMISSION_DENIED', 'No permission for the File abc or it may not exist.'],
  ['too many tokens', 400, 'INVALID_ARGUMENT', 'The input token count exceeds the maximum number of tokens allowed.'],
])('%s fails the request', async (_, status, name, message) => {
  const { provider } = await startWith({ status, body: errorOf(status, name, message) });
  const answer = await provider.complete(INPUT);
  expect(answer).toMatchObject({ kind: 'failed', class: 'validation', statusCode: status, nativeType: name });
});

test.each([
  ['a wrong key', 400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.', 'credential_refused'],
  ['a day’s quota', 429, 'RESOURCE_EXHAUSTED', 'You exceeded your current quota.', 'rate_limited'],
  ['a call given up', 499, 'CANCELLED', 'The operation was cancelled.', 'unavailable'],
])('%s is no answer', async (_, status, name, message, code) => {
  const { provider } = await startWith({ status, body: errorOf(status, name, message) });
  await expect(provider.complete(INPUT)).rejects.toMatchObject({ code, status });
});

test('a key that no header can carry is refused before anything is sent, unquoted', async () => {
  const { provider, server } = await startWith({ body: RESPONSE }, 'a\nkey');
  const asking = provider.complete(INPUT);
  await expect(asking).rejects.toMatchObject({ code: 'credential_refused', mayHaveActed: false });
  await expect(asking).rejects.not.toThrow('a\nkey');
  expect(server.requests).toEqual([]);
});
