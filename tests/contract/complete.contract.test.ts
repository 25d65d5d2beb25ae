import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { ATTEMPT_TOKEN_BYTES, encodeAttemptToken } from '../../domain/attempt-token.ts';
import type { JsonObject } from '../../domain/json-object.ts';
import { sanitiseUsage } from '../../domain/usage.ts';
import { splitLines } from '../../providers/jsonl.ts';
import type { BatchProvider, CompleteInput, LineResult } from '../../providers/provider.ts';
import { ProviderError } from '../../providers/provider-error.ts';
import { UntranslatableRequest } from '../../providers/untranslatable-request.ts';
import { type Control, createControl } from '../../simulators/control-client.ts';
import { type Simulators, startSimulators } from '../../simulators/start.ts';
import { eventually } from '../harness/eventually.ts';
import { ADAPTERS } from './adapters.ts';
import { startScriptedServer } from './scripted-server.ts';

const TIMEOUTS = { requestTimeoutMs: 10_000, idleTimeoutMs: 10_000 };
const DEFAULT_MAX_OUTPUT_TOKENS = 1_000;
const NEVER_MS = 3_600_000;
const SECRET = 'my secret plan';
const HTML = { 'content-type': 'text/html' };

const SCHEMA = {
  type: 'object',
  properties: { city: { type: 'string' }, degrees: { type: 'integer' } },
  required: ['city', 'degrees'],
  additionalProperties: false,
};
const user = (content: string) => ({ messages: [{ role: 'user', content }] });

/** Neutral requests, each of which a batch and the ordinary endpoint answer alike. */
const REQUESTS: readonly (readonly [string, JsonObject])[] = [
  ['text', user('How warm is it?')],
  ['a system message', { messages: [{ role: 'system', content: 'Be brief.' }, ...user('Why?').messages] }],
  [
    'a tool call',
    {
      ...user('How warm is it in Paris?'),
      tools: [{ type: 'function', function: { name: 'weather', parameters: SCHEMA } }],
      tool_choice: 'required',
    },
  ],
  [
    'JSON after a schema',
    {
      ...user('How warm is it in Rome?'),
      response_format: { type: 'json_schema', json_schema: { name: 'weather', strict: true, schema: SCHEMA } },
    },
  ],
  ['an answer cut by its limit', { ...user('[[sim:chars=400]]'), max_completion_tokens: 10 }],
  ['refused content', user('[[sim:safety]]')],
  ['cached tokens', user('[[sim:usage=1200,300,90]]')],
  ['tokens written to the cache', user('[[sim:usage=1200,300,90]][[sim:cache_write=40]]')],
  ['thinking', user('[[sim:usage=100,90]][[sim:reasoning=30]]')],
  ['no usage', user('[[sim:usage=none]]')],
  ['usage in an unknown shape', user('[[sim:usage=alien]]')],
  ['an invalid request', user('[[sim:invalid]]')],
  ['a prompt too long', user('[[sim:error=context_length]]')],
];

/** What differs between two replies to one request, or says whether it came in a batch. */
const OWN_MEMBERS = ['id', 'created', 'created_at', 'responseId', 'request_id', 'signature', 'service_tier'];

/** A result as far as it is the same wherever it was asked for: the status is known of single calls alone. */
function comparable(result: LineResult | undefined): unknown {
  if (result === undefined || (result.kind !== 'completed' && result.kind !== 'failed')) return result;
  const strip = (key: string, value: unknown) => (OWN_MEMBERS.includes(key) ? undefined : value);
  const body: unknown = result.body === undefined ? undefined : JSON.parse(result.body, strip);
  if (result.kind === 'completed') return { ...result, body };
  const { statusCode: _, nativeCode: __, ...rest } = result;
  return { ...rest, body };
}

describe.each(ADAPTERS)('$provider', ({ connect, provider: name, routes, samples, settings, traits }) => {
  let simulators: Simulators;
  let control: Control;
  let provider: BatchProvider;
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'contract-'));
    simulators = await startSimulators({ settings });
    control = createControl(simulators.controlUrl);
  });
  afterAll(async () => {
    await simulators.close();
    await rm(folder, { recursive: true });
  });
  beforeEach(async () => {
    await control.reset();
    provider = connect(simulators, TIMEOUTS);
  });

  const fault = (action: object, times: number | 'always' = 1) =>
    control.faults({ provider: name, route: routes.single, times, action });

  function inputOf(request: JsonObject, more: Partial<CompleteInput> = {}): CompleteInput {
    const { endpoint, model } = samples[0];
    const { signal } = new AbortController();
    return { endpoint, model, request, defaultMaxOutputTokens: DEFAULT_MAX_OUTPUT_TOKENS, signal, ...more };
  }

  const ask = (request: JsonObject, more: Partial<CompleteInput> = {}, at = provider) =>
    at.complete(inputOf(request, more));

  async function refusalOf(asking: Promise<unknown>): Promise<ProviderError> {
    const error: unknown = await asking.then(
      (answer) => new Error(`answered ${JSON.stringify(answer)}`),
      (reason: unknown) => reason,
    );
    if (error instanceof ProviderError) return error;
    throw error;
  }

  async function scripted(reply: (response: ServerResponse) => void, idleTimeoutMs = TIMEOUTS.idleTimeoutMs) {
    const server = await startScriptedServer((_, response) => reply(response));
    onTestFinished(() => server.close());
    const { url } = server;
    const urls = { openaiUrl: `${url}/v1`, anthropicUrl: url, geminiUrl: url };
    return { server, at: connect(urls, { ...TIMEOUTS, idleTimeoutMs }) };
  }

  async function runBatch(requests: readonly JsonObject[]): Promise<(LineResult | undefined)[]> {
    const { endpoint, model } = samples[0];
    const token = encodeAttemptToken(randomBytes(ATTEMPT_TOKEN_BYTES));
    const { signal } = new AbortController();
    const lines = requests.map((request, index) =>
      provider.encodeItem({ ...inputOf(request), providerItemId: `${token}-${index + 1}` }),
    );
    const { prefix, separator, suffix } = provider.inputFraming;
    const path = join(folder, `${token}.jsonl`);
    await writeFile(path, prefix + lines.join(separator) + suffix);
    const uploaded = await provider.uploadInput({ path, fileName: `${token}.jsonl`, signal });
    const { providerBatchId } = await provider.createBatch({
      ...{ attemptToken: token, endpoint, model, itemCount: requests.length, path, signal },
      inputFileId: uploaded?.inputFileId ?? null,
    });
    const ended = await eventually(async () => {
      const batch = await provider.retrieveBatch({ providerBatchId, signal });
      return batch.phase === 'ended' ? batch : null;
    });
    const results = new Map<string | null, LineResult>();
    for (const file of provider.resultFiles(ended)) {
      for await (const { text } of splitLines(provider.downloadFile({ file, signal }), { maxLineBytes: 1 << 20 })) {
        const line = provider.decodeLine(endpoint, text ?? '');
        if (line.kind === 'result') results.set(line.providerItemId, line.result);
      }
    }
    return requests.map((_, index) => results.get(`${token}-${index + 1}`));
  }

  test.each(samples)('understands the reply of $endpoint', async ({ endpoint, model, request, namesModel }) => {
    const answer = await ask(request('A question'), { endpoint, model });
    if (answer.kind !== 'completed') throw new Error(`the request ${answer.code}`);
    expect(sanitiseUsage(answer.usage, { inputTokens: 0, outputTokens: 0 }).estimated).toBe(false);
    expect(JSON.parse(answer.body)).toBeTypeOf('object');
    expect(answer.model).toBe(namesModel === false ? null : model);
  });

  test('says of a request what a line of a batch says', async () => {
    const inBatch = await runBatch(REQUESTS.map(([, request]) => request));
    const results = new Map(REQUESTS.map(([what], index) => [what, comparable(inBatch[index])]));
    const answers = new Map<string, unknown>();
    for (const [what, request] of REQUESTS) answers.set(what, comparable(await ask(request)));
    expect(answers).toEqual(results);
    expect(answers.get('refused content')).toMatchObject({ kind: 'failed', class: 'safety_blocked' });
    expect(answers.get('cached tokens')).toMatchObject({ usage: { inputTokens: 1200, cachedInputTokens: 300 } });
    expect(answers.get('thinking')).toMatchObject({
      kind: 'completed',
      usage: { outputTokens: 90, reasoningTokens: 30 },
    });
    expect(answers.get('no usage')).toMatchObject({ kind: 'completed', usage: null });
    expect(answers.get('an invalid request')).toMatchObject({ kind: 'failed', code: 'invalid_request' });
    expect(answers.get('a prompt too long')).toMatchObject({ kind: 'failed', code: 'context_too_long' });
    const [call] = readChoices(answers.get('a tool call'));
    expect(call).toMatchObject({
      finish_reason: 'tool_calls',
      message: { tool_calls: [{ function: { name: 'weather' } }] },
    });
    const [cut] = readChoices(answers.get('an answer cut by its limit'));
    expect(cut).toMatchObject({ finish_reason: 'length' });
    const [json] = readChoices(answers.get('JSON after a schema'));
    expect(JSON.parse(json?.message.content ?? '')).toMatchObject({ city: expect.any(String) });
  });

  test.each([
    [401, { code: 'credential_refused', isRetryable: false, mayHaveActed: false }],
    [402, { code: 'quota_exhausted', isRetryable: false, mayHaveActed: false }],
    [403, { code: 'credential_refused', isRetryable: false, mayHaveActed: false }],
    [408, { code: 'timed_out', isRetryable: true, mayHaveActed: true }],
    [429, { code: 'rate_limited', isRetryable: true, mayHaveActed: false }],
    [500, { code: 'unavailable', isRetryable: true, mayHaveActed: true }],
    [503, { code: 'unavailable', isRetryable: true, mayHaveActed: true }],
    [504, { code: 'timed_out', isRetryable: true, mayHaveActed: true }],
    [529, { code: 'unavailable', isRetryable: true, mayHaveActed: true }],
  ])('a %i says nothing of the request, and is not sent again', async (status, facts) => {
    await fault({ status }, 'always');
    expect(await refusalOf(ask(user('Hello')))).toMatchObject({ status, ...facts });
    expect(await control.journal({ route: routes.single })).toHaveLength(1);
  });

  test('the wait that a 429 asks for is heard', async () => {
    await fault(traits.waitSevenSeconds);
    expect(await refusalOf(ask(user('Hello')))).toMatchObject({ code: 'rate_limited', retryAfterMs: 7000 });
  });

  test('a spent account is told from a busy minute', async () => {
    const refused = await refusalOf(ask(user('[[sim:error=billing]]')));
    expect(refused).toMatchObject({ code: 'quota_exhausted', isRetryable: false });
  });

  test.each(traits.fullQueue.filter(({ said }) => said === 'at_create'))(
    'words for a full queue of batches are a limit of the rate here',
    async ({ action }) => {
      await fault(action);
      expect(await refusalOf(ask(user('Hello')))).toMatchObject({ code: 'rate_limited', isRetryable: true });
    },
  );

  test.each([400, 404])('a %i in the words of the provider is the answer', async (status) => {
    await fault({ status });
    expect(await ask(user('Hello'))).toMatchObject({ kind: 'failed', class: 'validation', statusCode: status });
  });

  test('a model that does not exist fails the request', async () => {
    const answer = await ask(user('Hello'), { model: 'unknown-model' });
    expect(answer).toMatchObject({ kind: 'failed', class: 'validation', code: 'model_unavailable', statusCode: 404 });
  });

  test.each([
    [400, { code: 'rejected', isRetryable: false }],
    [404, { code: 'not_found', isRetryable: true }],
    [413, { code: 'too_large', isRetryable: false }],
    [502, { code: 'unavailable', isRetryable: true }],
  ])('a page under %i is not the provider’s word, and not quoted', async (status, facts) => {
    await fault({ status, headers: HTML, body: `<html>${SECRET}</html>` });
    const refused = await refusalOf(ask(user(SECRET)));
    expect(refused).toMatchObject({ status, ...facts });
    expect(`${refused.message} ${refused.stack}`).not.toContain(SECRET);
  });

  test.each([429, 500])('an error under %i that quotes the request is told without it', async (status) => {
    const message = `cannot answer ${SECRET}`;
    const error = { type: 'api_error', code: status, status: 'UNAVAILABLE', message };
    await fault({ status, body: { type: 'error', error } });
    const refused = await refusalOf(ask(user(SECRET)));
    expect(`${refused.message} ${refused.stack}`).not.toContain(SECRET);
    expect(refused.message).toContain(String(status));
  });

  test.each([
    ['an error object', { error_object_200: true }],
    ['a page', { status: 200, headers: HTML, body: `<html>${SECRET}</html>` }],
    ['nothing', { status: 200, body: '' }],
    ['half an object', { status: 200, body: `{"id":"${SECRET}` }],
    ['a list', { status: 200, body: [SECRET] }],
    ['an object without an answer', { status: 200, body: {} }],
  ])('%s under 200 is malformed', async (_, action) => {
    await fault(action);
    const refused = await refusalOf(ask(user(SECRET)));
    expect(refused).toMatchObject({ code: 'malformed_reply', isRetryable: true, mayHaveActed: true });
    expect(`${refused.message} ${refused.stack}`).not.toContain(SECRET);
  });

  test.each([{ drop_before: true }, { drop_after: true }])('a connection dropped by %o is lost', async (action) => {
    await fault(action, 'always');
    const lost = { code: 'connection_lost', isRetryable: true, mayHaveActed: true };
    expect(await refusalOf(ask(user('Hello')))).toMatchObject(lost);
    expect(await control.journal({ route: routes.single })).toHaveLength(1);
  });

  test('a server that is not there did not act', async () => {
    const { server, at } = await scripted(() => undefined);
    await server.close();
    expect(await refusalOf(ask(user('Hello'), {}, at))).toMatchObject({ code: 'unavailable', mayHaveActed: false });
  });

  test('a redirect is not followed', async () => {
    const { server, at } = await scripted((response) => response.writeHead(307, { location: '/elsewhere' }).end());
    await refusalOf(ask(user('Hello'), {}, at));
    expect(server.requests).toHaveLength(1);
  });

  test('a reply cut in the middle is a lost connection', async () => {
    const { at } = await scripted((response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
      response.write('{"id":', () => response.destroy());
    });
    const lost = { code: 'connection_lost', isRetryable: true, mayHaveActed: true };
    expect(await refusalOf(ask(user('Hello'), {}, at))).toMatchObject(lost);
  });

  test('a reply that goes silent is timed out, and nothing stays open', async () => {
    const { server, at } = await scripted((response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{"id":');
    }, 50);
    expect(await refusalOf(ask(user('Hello'), {}, at))).toMatchObject({ code: 'timed_out', isRetryable: true });
    await eventually(() => server.openReplies() === 0);
  });

  test('an answer that does not come in time is timed out, and nothing stays open', async () => {
    await control.settings({ [name]: { replyLatencyMs: NEVER_MS } });
    const refused = await refusalOf(ask(user('Hello'), { timeoutMs: 100 }));
    expect(refused).toMatchObject({ code: 'timed_out', isRetryable: true, mayHaveActed: true });
    await eventually(async () => (await control.journal()).every(({ ended_at }) => ended_at !== null));
  });

  test('a caller that goes while it waits closes the call', async () => {
    await control.settings({ [name]: { replyLatencyMs: NEVER_MS } });
    const controller = new AbortController();
    const asking = refusalOf(ask(user('Hello'), { signal: controller.signal }));
    const asked = await eventually(async () => (await control.journal({ route: routes.single }))[0]);
    expect(asked).toMatchObject({ status: null, ended_at: null, facts: { model: samples[0].model } });
    controller.abort();
    expect(await asking).toMatchObject({ code: 'aborted', isRetryable: false, mayHaveActed: true });
    await eventually(async () => (await control.journal({ route: routes.single }))[0]?.ended_at);
    expect(await control.journal({ route: routes.single })).toMatchObject([{ status: null }]);
  });

  test('a caller that is gone before sends nothing', async () => {
    const refused = await refusalOf(ask(user('Hello'), { signal: AbortSignal.abort() }));
    expect(refused).toMatchObject({ code: 'aborted', mayHaveActed: false });
    expect(await control.journal()).toEqual([]);
  });

  test.each(samples)('$endpoint is not asked to stream', async ({ endpoint, model, request }) => {
    const asking = ask({ ...request('Hello'), stream: true }, { endpoint, model });
    await expect(asking).rejects.toBeInstanceOf(UntranslatableRequest);
    await expect(asking).rejects.toMatchObject({ field: 'request.stream' });
    expect(await control.journal()).toEqual([]);
  });
});

interface Choice {
  readonly finish_reason: string;
  readonly message: { readonly content: string | null };
}

function readChoices(answer: unknown): Choice[] {
  const { body } = answer as { body: { choices: Choice[] } };
  return body.choices;
}
