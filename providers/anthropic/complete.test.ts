import { expect, onTestFinished, test } from 'vitest';
import { sendJson, startScriptedServer } from '../../tests/contract/scripted-server.ts';
import type { CompleteInput } from '../provider.ts';
import { createAnthropicProvider } from './adapter.ts';

const MESSAGE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-5',
  content: [{ type: 'text', text: '4' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 5, output_tokens: 1 },
};
const INPUT: CompleteInput = {
  endpoint: 'chat.completions',
  model: 'claude-sonnet-5',
  request: { messages: [{ role: 'user', content: '2+2?' }] },
  defaultMaxOutputTokens: 64_000,
  signal: new AbortController().signal,
};

async function startWith({ status = 200, body }: { status?: number; body: unknown }) {
  const server = await startScriptedServer((_, response) => sendJson(response, status, body));
  onTestFinished(() => server.close());
  const settings = { apiKey: 'sk-ant-test', baseUrl: server.url, requestTimeoutMs: 5000, idleTimeoutMs: 5000 };
  return { provider: createAnthropicProvider({ ...settings, apiVersion: '2026-10-21' }), server };
}

const errorOf = (type: string, message = 'Sorry.') => ({
  type: 'error',
  error: { type, message },
  request_id: 'req_1',
});

test('translates a neutral request and its reply, whatever the limit of tokens', async () => {
  const { provider, server } = await startWith({ body: MESSAGE });
  const answer = await provider.complete(INPUT);
  expect(server.requests).toEqual(['POST /v1/messages']);
  expect(JSON.parse(server.lastBody())).toMatchObject({ model: 'claude-sonnet-5', max_tokens: 64_000 });
  if (answer.kind !== 'completed') throw new Error(`the request ${answer.code}`);
  expect(JSON.parse(answer.body)).toMatchObject({
    object: 'chat.completion',
    choices: [{ message: { content: '4' } }],
  });
});

test('a Message is kept byte for byte', async () => {
  const { provider } = await startWith({ body: MESSAGE });
  const request = { max_tokens: 10, messages: [{ role: 'user', content: '2+2?' }] };
  const answer = await provider.complete({ ...INPUT, endpoint: 'messages', request });
  expect(answer).toMatchObject({ kind: 'completed', body: JSON.stringify(MESSAGE), model: 'claude-sonnet-5' });
});

test('content that is blocked is the answer, with the status and the body that say so', async () => {
  const body = errorOf('invalid_request_error', 'Output blocked by content filtering policy');
  const { provider } = await startWith({ status: 400, body });
  const answer = { kind: 'failed', code: 'safety_blocked', statusCode: 400, body: JSON.stringify(body) };
  expect(await provider.complete(INPUT)).toMatchObject(answer);
});

test.each([
  [429, 'rate_limited'],
  [403, 'credential_refused'],
  [409, 'unavailable'],
  [500, 'unavailable'],
])('a %i says more than the coarse type beside it', async (status, code) => {
  const { provider } = await startWith({ status, body: errorOf('invalid_request_error') });
  await expect(provider.complete(INPUT)).rejects.toMatchObject({ code, status });
});

test.each([
  ['billing_error', 402],
  ['invalid_request_error', 400],
])('a spent account is %s with %i', async (type, status) => {
  const { provider } = await startWith({ status, body: errorOf(type, 'Your credit balance is too low.') });
  await expect(provider.complete(INPUT)).rejects.toMatchObject({ code: 'quota_exhausted', isRetryable: false });
});
