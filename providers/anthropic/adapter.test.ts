import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { type ScriptedServer, sendJson, startScriptedServer } from '../../tests/contract/scripted-server.ts';
import type { BatchProvider } from '../provider.ts';
import { type AnthropicSettings, createAnthropicProvider } from './adapter.ts';

const ID = 'msgbatch_1';
const COUNTS = { processing: 1, succeeded: 0, errored: 0, canceled: 0, expired: 0 };
const BATCH = {
  id: ID,
  type: 'message_batch',
  processing_status: 'in_progress',
  request_counts: COUNTS,
  created_at: '2026-11-30T10:00:00Z',
  results_url: null,
};
const ENDED = {
  ...BATCH,
  processing_status: 'ended',
  request_counts: { ...COUNTS, processing: 0, succeeded: 1 },
  results_url: `/v1/messages/batches/${ID}/results`,
};
const RESULT_LINE = '{"custom_id":"att-1","result":{"type":"expired"}}\n';
const { signal } = new AbortController();

let folder: string;
let createInput: Parameters<BatchProvider['createBatch']>[0];
let server: ScriptedServer | undefined;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'anthropic-adapter-'));
  const path = join(folder, 'input.json');
  await writeFile(path, '{"requests":[{"a":"é"}]}');
  createInput = {
    attemptToken: 'att',
    endpoint: 'messages',
    model: 'm',
    itemCount: 1,
    inputFileId: null,
    path,
    signal,
  };
});

afterAll(() => rm(folder, { recursive: true }));

afterEach(async () => {
  vi.unstubAllEnvs();
  await server?.close();
  server = undefined;
});

type Reply = (request: IncomingMessage, response: ServerResponse) => void;

async function startWith(
  reply: Reply,
  settings: Partial<AnthropicSettings> = {},
): Promise<{ provider: BatchProvider; server: ScriptedServer }> {
  server = await startScriptedServer(reply);
  const provider = createAnthropicProvider({
    apiKey: 'sk-ant-test',
    baseUrl: server.url,
    apiVersion: '2026-10-21',
    requestTimeoutMs: 5000,
    idleTimeoutMs: 5000,
    ...settings,
  });
  return { provider, server };
}

/** Answers the retrieve before each download with the batch, and the rest as told. */
function withEndedBatch(results: Reply, batch: object = ENDED): Reply {
  return (request, response) =>
    request.url?.endsWith('/results') ? results(request, response) : sendJson(response, 200, batch);
}

async function readAll(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  let text = '';
  for await (const chunk of chunks) text += Buffer.from(chunk).toString();
  return text;
}

const FILE = { kind: 'output', fileId: ID } as const;
const download = (provider: BatchProvider) => readAll(provider.downloadFile({ file: FILE, signal }));

test('creates with the finished file as the body', async () => {
  let headers: IncomingHttpHeaders = {};
  const { provider, server } = await startWith((request, response) => {
    headers = request.headers;
    sendJson(response, 200, BATCH);
  });
  expect(await provider.uploadInput({ path: '/dev/null', fileName: 'a', signal })).toBeNull();
  expect(await provider.createBatch(createInput)).toMatchObject({ providerBatchId: ID, phase: 'running' });
  expect(server.requests).toEqual(['POST /v1/messages/batches']);
  expect(server.lastBody()).toBe('{"requests":[{"a":"é"}]}');
  expect(headers).toMatchObject({
    'content-type': 'application/json',
    'content-length': '25',
    'anthropic-version': '2026-10-21',
    authorization: 'Bearer sk-ant-test',
  });
});

test('the frame around its lines makes one body', async () => {
  const { provider } = await startWith(() => {});
  const item = { endpoint: 'messages', model: 'm', request: { max_tokens: 1 }, defaultMaxOutputTokens: 1 } as const;
  const lines = ['a-1', 'a-2'].map((providerItemId) => provider.encodeItem({ ...item, providerItemId }));
  const { prefix, separator, suffix } = provider.inputFraming;
  expect(JSON.parse(`${prefix}${lines.join(separator)}${suffix}`)).toEqual({
    requests: [
      { custom_id: 'a-1', params: { max_tokens: 1, model: 'm' } },
      { custom_id: 'a-2', params: { max_tokens: 1, model: 'm' } },
    ],
  });
});

test('speaks the configured version under the configured name, whatever the environment says', async () => {
  vi.stubEnv('ANTHROPIC_API_KEY', 'sk-ant-other');
  vi.stubEnv('ANTHROPIC_AUTH_TOKEN', 'other-token');
  vi.stubEnv('ANTHROPIC_BASE_URL', 'http://127.0.0.1:1');
  vi.stubEnv(
    'ANTHROPIC_CUSTOM_HEADERS',
    'X-Api-Key: sk-ant-other\nAuthorization: Bearer other\nanthropic-version: 2020-01-01\nanthropic-beta: some-beta',
  );
  let headers: IncomingHttpHeaders = {};
  const { provider } = await startWith(
    (request, response) => {
      headers = request.headers;
      sendJson(response, 200, BATCH);
    },
    { apiVersion: '2023-06-01', provider: 'anthropic-eu' },
  );
  await provider.retrieveBatch({ providerBatchId: ID, signal });
  expect(provider.provider).toBe('anthropic-eu');
  expect(headers).toMatchObject({ 'anthropic-version': '2023-06-01', authorization: 'Bearer sk-ant-test' });
  expect(headers).not.toHaveProperty('x-api-key');
  expect(headers).not.toHaveProperty('anthropic-beta');
});

test('the API version decides what a chat completion may carry', async () => {
  const request = { messages: [{ role: 'user', content: 'Hi' }], temperature: 0.5 };
  const item = {
    providerItemId: 'a-1',
    model: 'm',
    endpoint: 'chat.completions',
    request,
    defaultMaxOutputTokens: 1,
  } as const;
  const { provider: old } = await startWith(() => {}, { apiVersion: '2023-06-01' });
  expect(JSON.parse(old.encodeItem(item)).params).toMatchObject({ temperature: 0.5 });
  await server?.close();
  const { provider } = await startWith(() => {});
  expect(() => provider.encodeItem(item)).toThrow(expect.objectContaining({ field: 'request.temperature' }));
});

test('takes a created batch that does not name its status', async () => {
  const { provider } = await startWith((_, response) => sendJson(response, 200, { id: ID }));
  expect(await provider.createBatch(createInput)).toMatchObject({ providerBatchId: ID, phase: 'running' });
});

test.each([
  ['a page', (response: ServerResponse) => response.end('<html>Welcome</html>')],
  [
    'an error object',
    (response: ServerResponse) => sendJson(response, 200, { type: 'error', error: { message: 'odd' } }),
  ],
  ['an object without id', (response: ServerResponse) => sendJson(response, 200, { type: 'message_batch' })],
  [
    'half of a JSON object',
    (response: ServerResponse) => response.setHeader('content-type', 'application/json').end('{"id":'),
  ],
  [
    'a JSON reply of no length',
    (response: ServerResponse) => response.setHeader('content-type', 'application/json').end(),
  ],
])('a create answered with %s may have acted', async (_name, reply) => {
  const { provider, server } = await startWith((_, response) => reply(response));
  await expect(provider.createBatch(createInput)).rejects.toMatchObject({
    code: 'malformed_reply',
    mayHaveActed: true,
  });
  expect(server.requests).toHaveLength(1);
});

test.each([
  [500, 'unavailable', true],
  [529, 'unavailable', true],
  [429, 'rate_limited', false],
  [409, 'unavailable', true],
  [413, 'too_large', false],
  [400, 'rejected', false],
])('sends a create answered with %i once', async (status, code, mayHaveActed) => {
  const { provider, server } = await startWith((_, response) =>
    sendJson(response, status, { error: { message: 'no' } }, { 'x-should-retry': 'true', 'retry-after': '1' }),
  );
  await expect(provider.createBatch(createInput)).rejects.toMatchObject({ code, mayHaveActed, retryAfterMs: 1000 });
  expect(server.requests).toHaveLength(1);
});

test('sends a create whose connection drops once, and it may have acted', async () => {
  const { provider, server } = await startWith((request) => request.socket.destroy());
  await expect(provider.createBatch(createInput)).rejects.toMatchObject({
    code: 'connection_lost',
    mayHaveActed: true,
  });
  expect(server.requests).toHaveLength(1);
});

test('a create that finds nobody listening did not act', async () => {
  const { provider, server } = await startWith(() => {});
  await server.close();
  await expect(provider.createBatch(createInput)).rejects.toMatchObject({ code: 'unavailable', mayHaveActed: false });
});

test.each([null, '/nowhere/input.json'])('a create with the file %s is refused before it is sent', async (path) => {
  const { provider, server } = await startWith((_, response) => sendJson(response, 200, BATCH));
  const creating = provider.createBatch({ ...createInput, path });
  await expect(creating).rejects.toMatchObject({ code: 'rejected', mayHaveActed: false });
  expect(server.requests).toEqual([]);
});

test('follows no redirect', async () => {
  const { provider, server } = await startWith((_, response) =>
    response.writeHead(307, { location: '/elsewhere' }).end(),
  );
  await expect(provider.createBatch(createInput)).rejects.toMatchObject({ mayHaveActed: true });
  expect(server.requests).toEqual(['POST /v1/messages/batches']);
});

test.each([
  ['no headers', () => {}],
  [
    'half a body',
    (response: ServerResponse) => response.writeHead(200, { 'content-type': 'application/json' }).write('{"id"'),
  ],
])('times out on %s', async (_name, reply) => {
  const { provider, server } = await startWith((_, response) => void reply(response), { requestTimeoutMs: 50 });
  await expect(provider.createBatch(createInput)).rejects.toMatchObject({ code: 'timed_out', mayHaveActed: true });
  await expect.poll(() => server.openReplies()).toBe(0);
});

test('an abort before sending did not act, one after it may have', async () => {
  const controller = new AbortController();
  const { provider, server } = await startWith(() => controller.abort());
  const input = { ...createInput, signal: controller.signal };
  await expect(provider.createBatch(input)).rejects.toMatchObject({ code: 'aborted', mayHaveActed: true });
  await expect(provider.createBatch(input)).rejects.toMatchObject({ code: 'aborted', mayHaveActed: false });
  expect(server.requests).toHaveLength(1);
});

test.each([
  [200, { type: 'error', error: { message: 'lost' } }, 'malformed_reply'],
  [200, { id: ID }, 'malformed_reply'],
  [200, { ...BATCH, id: 'msgbatch_2' }, 'malformed_reply'],
  [200, null, 'malformed_reply'],
  [404, { type: 'error', error: { type: 'not_found_error', message: 'Not found' } }, 'not_found'],
])('retrieve: %i with %j is %s', async (status, body, code) => {
  const { provider } = await startWith((_, response) => sendJson(response, status, body));
  const retrieving = provider.retrieveBatch({ providerBatchId: ID, signal });
  await expect(retrieving).rejects.toMatchObject({ code, isRetryable: true });
});

test('asks for a cancel', async () => {
  const canceling = { ...BATCH, processing_status: 'canceling', cancel_initiated_at: '2026-11-30T11:00:00Z' };
  const { provider, server } = await startWith((_, response) => sendJson(response, 200, canceling));
  expect(await provider.cancelBatch({ providerBatchId: ID, signal })).toMatchObject({ phase: 'cancelling' });
  expect(server.requests).toEqual([`POST /v1/messages/batches/${ID}/cancel`]);
});

test.each([400, 409])('a cancel refused with %i returns a batch that has ended', async (status) => {
  const { provider, server } = await startWith((request, response) =>
    request.method === 'POST'
      ? sendJson(response, status, { error: { message: 'already ended' } })
      : sendJson(response, 200, ENDED),
  );
  const batch = await provider.cancelBatch({ providerBatchId: ID, signal });
  expect(batch).toMatchObject({ end: 'completed', outputFileId: ID });
  expect(server.requests).toEqual([`POST /v1/messages/batches/${ID}/cancel`, `GET /v1/messages/batches/${ID}`]);
});

test('a cancel refused while the batch runs is an error', async () => {
  const { provider } = await startWith((request, response) =>
    request.method === 'POST'
      ? sendJson(response, 409, { error: { message: 'busy' } })
      : sendJson(response, 200, BATCH),
  );
  const cancelling = provider.cancelBatch({ providerBatchId: ID, signal });
  await expect(cancelling).rejects.toMatchObject({ code: 'unavailable', status: 409, isRetryable: true });
});

test('takes no page that is no list for an empty one', async () => {
  const { provider } = await startWith((_, response) => response.end('<html>Please log in</html>'));
  const finding = provider.findBatches({ ...createInput, createdAfter: new Date() });
  await expect(finding).rejects.toMatchObject({ code: 'malformed_reply' });
});

test('reads the results of a candidate before it names it', async () => {
  const { provider, server } = await startWith((request, response) =>
    request.url?.endsWith('/results')
      ? response.end(RESULT_LINE)
      : sendJson(response, 200, { data: [ENDED], has_more: false, first_id: ID, last_id: ID }),
  );
  expect(await provider.findBatches({ ...createInput, createdAfter: new Date('2026-11-30T10:00:00Z') })).toEqual([]);
  expect(server.requests).toEqual(['GET /v1/messages/batches?limit=100', `GET /v1/messages/batches/${ID}/results`]);
  await expect.poll(() => server.openReplies()).toBe(0);
});

test('names its results once they are there', async () => {
  const { provider } = await startWith(() => {});
  const batch = { providerBatchId: ID } as Awaited<ReturnType<BatchProvider['retrieveBatch']>>;
  expect(provider.resultFiles({ ...batch, outputFileId: ID })).toEqual([FILE]);
  expect(provider.resultFiles({ ...batch, outputFileId: null })).toEqual([]);
});

test.each(['application/binary', 'application/x-jsonl', 'application/json'])(
  'downloads results sent as %s',
  async (type) => {
    for (const content of [RESULT_LINE, RESULT_LINE.repeat(1000), 'not {json\n', '']) {
      const { provider, server } = await startWith(
        withEndedBatch((_, response) => response.setHeader('content-type', type).end(content)),
      );
      expect(await download(provider)).toBe(content);
      expect(server.requests).toEqual([`GET /v1/messages/batches/${ID}`, `GET /v1/messages/batches/${ID}/results`]);
      await server.close();
    }
  },
);

test('downloads results named by an absolute URL of its own origin', async () => {
  const { provider, server } = await startWith((request, response) =>
    request.url?.endsWith('/results')
      ? response.end(RESULT_LINE)
      : sendJson(response, 200, { ...ENDED, results_url: `http://${request.headers.host}/elsewhere/results` }),
  );
  expect(await download(provider)).toBe(RESULT_LINE);
  expect(server.requests.at(-1)).toBe('GET /elsewhere/results');
});

test('never sends the key to another origin', async () => {
  const stranger = await startScriptedServer((_, response) => response.end(RESULT_LINE));
  const { provider, server } = await startWith((_, response) =>
    sendJson(response, 200, { ...ENDED, results_url: `${stranger.url}/results` }),
  );
  await expect(download(provider)).rejects.toMatchObject({ code: 'malformed_reply', isRetryable: false });
  expect(server.requests).toHaveLength(1);
  expect(stranger.requests).toEqual([]);
  await stranger.close();
});

test.each([
  ['an error object', 'application/json', '{"type":"error","error":{"message":"The results are gone"}}'],
  ['a page', 'text/html', '<html>'],
])('does not take %s for results', async (_name, type, content) => {
  const { provider } = await startWith(
    withEndedBatch((_, response) => response.setHeader('content-type', type).end(content)),
  );
  await expect(download(provider)).rejects.toMatchObject({ code: 'malformed_reply', isRetryable: true });
});

test.each([
  ['not there yet', { ...ENDED, results_url: null }, true],
  ['archived', { ...ENDED, archived_at: '2026-12-29T10:00:00Z' }, false],
])('results that are %s are not_found', async (_name, batch, isRetryable) => {
  const { provider, server } = await startWith(withEndedBatch((_, response) => response.end(), batch));
  await expect(download(provider)).rejects.toMatchObject({ code: 'not_found', isRetryable });
  expect(server.requests).toHaveLength(1);
});

test('results the node that answers does not know yet are not_found', async () => {
  const { provider } = await startWith(
    withEndedBatch((_, response) => sendJson(response, 404, { type: 'error', error: { type: 'not_found_error' } })),
  );
  await expect(download(provider)).rejects.toMatchObject({ code: 'not_found', isRetryable: true });
});

const ROW = `${'x'.repeat(100)}\n`;

function sendPart(_request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/binary', 'content-length': '100000' });
  response.write(ROW);
}

test('a download cut short is connection_lost after the bytes that came', async () => {
  const { provider, server } = await startWith(
    withEndedBatch((request, response) => {
      sendPart(request, response);
      setImmediate(() => request.socket.end());
    }),
  );
  let received = '';
  const reading = async () => {
    for await (const chunk of provider.downloadFile({ file: FILE, signal })) received += Buffer.from(chunk).toString();
  };
  await expect(reading()).rejects.toMatchObject({ code: 'connection_lost', isRetryable: true });
  expect(received).toBe(ROW);
  await expect.poll(() => server.openReplies()).toBe(0);
});

test('a download that goes silent is timed_out and closes its connection', async () => {
  const { provider, server } = await startWith(withEndedBatch(sendPart), { idleTimeoutMs: 50 });
  await expect(download(provider)).rejects.toMatchObject({ code: 'timed_out', isRetryable: true });
  await expect.poll(() => server.openReplies()).toBe(0);
});

test('an aborted download closes its connection, and so does one its reader leaves', async () => {
  const controller = new AbortController();
  const { provider, server } = await startWith(withEndedBatch(sendPart));
  for await (const _ of provider.downloadFile({ file: FILE, signal })) break;
  await expect.poll(() => server.openReplies()).toBe(0);
  const reading = async () => {
    for await (const _ of provider.downloadFile({ file: FILE, signal: controller.signal })) controller.abort();
  };
  await expect(reading()).rejects.toMatchObject({ code: 'aborted' });
  await expect.poll(() => server.openReplies()).toBe(0);
});
