import type { IncomingHttpHeaders } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { type ScriptedServer, sendJson, startScriptedServer } from '../../tests/contract/scripted-server.ts';
import type { CompleteInput } from '../provider.ts';
import { createOpenAiProvider, type OpenAiSettings } from './adapter.ts';

const COMPLETION = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  model: 'gpt-5',
  choices: [{ index: 0, message: { role: 'assistant', content: '4' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 5, completion_tokens: 1 },
};
const INPUT: CompleteInput = {
  endpoint: 'chat.completions',
  model: 'gpt-5',
  request: { messages: [{ role: 'user', content: '2+2?' }], model: 'an-alias' },
  defaultMaxOutputTokens: 100,
  signal: new AbortController().signal,
};

async function startWith(
  { status = 200, body }: { status?: number; body: unknown },
  own: Partial<OpenAiSettings> = {},
) {
  const sent: IncomingHttpHeaders[] = [];
  const server: ScriptedServer = await startScriptedServer((request, response) => {
    sent.push(request.headers);
    sendJson(response, status, body);
  });
  onTestFinished(() => server.close());
  const settings = { apiKey: 'sk-test-key', baseUrl: `${server.url}/v1`, requestTimeoutMs: 5000, idleTimeoutMs: 5000 };
  return { provider: createOpenAiProvider({ ...settings, ...own }), server, sent };
}

test('sends the request as it is, with the model of the provider', async () => {
  const { provider, server, sent } = await startWith({ body: COMPLETION });
  const answer = await provider.complete(INPUT);
  expect(server.requests).toEqual(['POST /v1/chat/completions']);
  expect(JSON.parse(server.lastBody())).toEqual({ ...INPUT.request, model: 'gpt-5' });
  expect(sent[0]).toMatchObject({ authorization: 'Bearer sk-test-key', 'content-type': 'application/json' });
  expect(answer).toEqual({
    kind: 'completed',
    body: JSON.stringify(COMPLETION),
    usage: expect.objectContaining({ inputTokens: 5, outputTokens: 1 }),
    model: 'gpt-5',
  });
});

test('a compatible provider is asked below its own address, with its own header', async () => {
  const compatible = { provider: 'azure', auth: 'api-key', pathPrefix: '' } as const;
  const { provider, server, sent } = await startWith({ body: COMPLETION }, { compatible });
  await provider.complete(INPUT);
  expect(server.requests).toEqual(['POST /v1/chat/completions']);
  expect(sent[0]).toMatchObject({ 'api-key': 'sk-test-key' });
  expect(sent[0]).not.toHaveProperty('authorization');
});

test('an embedding keeps the numbers as they were written', async () => {
  const body = { object: 'list', data: [{ object: 'embedding', index: 0, embedding: [0.1] }], model: 'e' };
  const { provider, server } = await startWith({ body });
  const answer = await provider.complete({ ...INPUT, endpoint: 'embeddings', request: { input: 'a' } });
  expect(JSON.parse(server.lastBody())).toEqual({ input: 'a', model: 'gpt-5' });
  expect(answer).toMatchObject({ kind: 'completed', body: JSON.stringify(body) });
});

test.each([
  ['server_error', 'unavailable', true],
  ['rate_limit_exceeded', 'rate_limited', true],
])('a response that failed by %s is thrown as %s', async (code, thrown, isRetryable) => {
  const body = { object: 'response', status: 'failed', output: [], error: { code, message: 'Sorry.' } };
  const { provider } = await startWith({ body });
  const asking = provider.complete({ ...INPUT, endpoint: 'responses', request: { input: 'a' } });
  await expect(asking).rejects.toMatchObject({ code: thrown, isRetryable, mayHaveActed: true });
});

test('a response that failed after it was counted is the answer, with what it cost', async () => {
  const usage = { input_tokens: 10, output_tokens: 5 };
  const error = { code: 'server_error', message: 'Sorry.' };
  const { provider } = await startWith({ body: { object: 'response', status: 'failed', output: [], error, usage } });
  expect(await provider.complete({ ...INPUT, endpoint: 'responses', request: { input: 'a' } })).toMatchObject({
    kind: 'failed',
    code: 'provider_server_error',
    usage: { inputTokens: 10, outputTokens: 5 },
  });
});

test('a refusal of the content is the answer, with the body that says so', async () => {
  const error = { message: 'Flagged.', type: 'invalid_request_error', param: null, code: 'content_policy_violation' };
  const { provider } = await startWith({ status: 400, body: { error } });
  expect(await provider.complete(INPUT)).toEqual({
    kind: 'failed',
    class: 'safety_blocked',
    code: 'safety_blocked',
    message: 'Flagged.',
    nativeType: 'invalid_request_error',
    nativeCode: 'content_policy_violation',
    statusCode: 400,
    body: JSON.stringify({ error }),
  });
});

test('work in the background is refused before it is sent', async () => {
  const { provider, server } = await startWith({ body: {} });
  const request = { input: 'a', background: true };
  const asking = provider.complete({ ...INPUT, endpoint: 'responses', request });
  await expect(asking).rejects.toMatchObject({ name: 'UntranslatableRequest', field: 'request.background' });
  expect(server.requests).toEqual([]);
});

test('an endpoint that OpenAI does not have is refused before it is sent', async () => {
  const { provider, server } = await startWith({ body: {} });
  const asking = provider.complete({ ...INPUT, endpoint: 'messages' });
  await expect(asking).rejects.toMatchObject({ code: 'rejected', mayHaveActed: false });
  expect(server.requests).toEqual([]);
});
