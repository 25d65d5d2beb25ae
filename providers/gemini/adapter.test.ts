import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { type ScriptedServer, sendJson, startScriptedServer } from '../../tests/contract/scripted-server.ts';
import type { BatchProvider } from '../provider.ts';
import { createGeminiProvider } from './adapter.ts';

const BATCH = { name: 'batches/b1', metadata: { state: 'BATCH_STATE_PENDING', createTime: '2026-11-30T09:00:00Z' } };
const ENDED = { ...BATCH, done: true, metadata: { state: 'BATCH_STATE_SUCCEEDED' } };
const NO = { error: { code: 400, message: 'no', status: 'INVALID_ARGUMENT' } };
const { signal } = new AbortController();
const createInput = {
  attemptToken: 'att-1',
  endpoint: 'generate_content',
  model: 'gemini-2.5-flash',
  itemCount: 1,
  inputFileId: 'files/in1',
  path: null,
  signal,
} as const;
const CREATE = 'POST /v1beta/models/gemini-2.5-flash:batchGenerateContent';

let server: ScriptedServer | undefined;

afterEach(async () => {
  await server?.close();
  server = undefined;
});

async function startWith(
  reply: (request: IncomingMessage, response: ServerResponse) => void,
  settings: { requestTimeoutMs?: number; idleTimeoutMs?: number; apiKey?: string } = {},
): Promise<{ provider: BatchProvider; server: ScriptedServer }> {
  server = await startScriptedServer(reply);
  const defaults = { apiKey: 'AIzaTestKey1', baseUrl: server.url, requestTimeoutMs: 5000, idleTimeoutMs: 5000 };
  return { provider: createGeminiProvider({ ...defaults, ...settings }), server };
}

async function readAll(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  let text = '';
  for await (const chunk of chunks) text += Buffer.from(chunk).toString();
  return text;
}

const download = (provider: BatchProvider, { fileId = 'files/out', aborting = signal } = {}) =>
  readAll(provider.downloadFile({ file: { kind: 'output', fileId }, signal: aborting }));

test.each([
  ['generate_content', 'batchGenerateContent'],
  ['chat.completions', 'batchGenerateContent'],
  ['embeddings', 'asyncBatchEmbedContent'],
] as const)('creates a batch of %s with the token and the key in its header', async (endpoint, method) => {
  let key: unknown;
  const { provider, server } = await startWith((request, response) => {
    key = request.headers['x-goog-api-key'];
    sendJson(response, 200, BATCH);
  });
  const batch = await provider.createBatch({ ...createInput, endpoint });
  expect(batch).toMatchObject({ providerBatchId: 'batches/b1', phase: 'validating' });
  expect(server.requests).toEqual([`POST /v1beta/models/gemini-2.5-flash:${method}`]);
  expect(key).toBe('AIzaTestKey1');
  expect(JSON.parse(server.lastBody())).toEqual({
    batch: { displayName: 'att-1', inputConfig: { fileName: 'files/in1' } },
  });
});

test('goes by its own name, unless it is given another', () => {
  const settings = { apiKey: 'k', baseUrl: null, requestTimeoutMs: 1, idleTimeoutMs: 1 };
  expect(createGeminiProvider(settings).provider).toBe('gemini');
  expect(createGeminiProvider({ ...settings, provider: 'gemini-eu' }).provider).toBe('gemini-eu');
});

test('takes a created batch that does not name its state', async () => {
  const { provider } = await startWith((_, response) => sendJson(response, 200, { name: 'batches/b1' }));
  expect(await provider.createBatch(createInput)).toMatchObject({ providerBatchId: 'batches/b1', phase: 'running' });
});

test.each([
  ['a page', (response: ServerResponse) => response.end('<html>Welcome</html>')],
  ['an error object', (response: ServerResponse) => sendJson(response, 200, NO)],
  ['an object without a name', (response: ServerResponse) => sendJson(response, 200, { metadata: BATCH.metadata })],
  ['half of a JSON object', (response: ServerResponse) => response.end('{"name":')],
  ['nothing', (response: ServerResponse) => response.end()],
])('a create answered with %s may have acted', async (_name, reply) => {
  const { provider, server } = await startWith((_, response) => reply(response));
  const creating = provider.createBatch(createInput);
  await expect(creating).rejects.toMatchObject({ code: 'malformed_reply', mayHaveActed: true });
  await expect(creating).rejects.toThrow(expect.not.objectContaining({ message: expect.stringContaining('Welcome') }));
  expect(server.requests).toHaveLength(1);
});

test.each([
  [500, 'unavailable', true],
  [429, 'rate_limited', false],
  [409, 'unavailable', true],
  [400, 'rejected', false],
])('sends a create answered with %i once', async (status, code, mayHaveActed) => {
  const { provider, server } = await startWith((_, response) => sendJson(response, status, NO, { 'retry-after': '1' }));
  await expect(provider.createBatch(createInput)).rejects.toMatchObject({ code, mayHaveActed, retryAfterMs: 1000 });
  expect(server.requests).toEqual([CREATE]);
});

test('sends a create whose connection drops once, and it may have acted', async () => {
  const { provider, server } = await startWith((request) => request.socket.destroy());
  const lost = { code: 'connection_lost', mayHaveActed: true };
  await expect(provider.createBatch(createInput)).rejects.toMatchObject(lost);
  expect(server.requests).toHaveLength(1);
});

test('a create that finds nobody listening did not act', async () => {
  const { provider, server } = await startWith(() => {});
  await server.close();
  await expect(provider.createBatch(createInput)).rejects.toMatchObject({ code: 'unavailable', mayHaveActed: false });
});

test.each([
  ['without an uploaded file', { inputFileId: null }],
  ['of a model that would climb out of its path', { model: '../files' }],
])('a create %s is refused before it is sent', async (_name, changes) => {
  const { provider, server } = await startWith((_, response) => sendJson(response, 200, BATCH));
  const creating = provider.createBatch({ ...createInput, ...changes });
  await expect(creating).rejects.toMatchObject({ code: 'rejected', mayHaveActed: false });
  expect(server.requests).toEqual([]);
});

test('a key that no header can carry is refused unsent and never quoted', async () => {
  const { provider, server } = await startWith((_, response) => sendJson(response, 200, BATCH), {
    apiKey: 'AIza\nSecret',
  });
  const retrieving = provider.retrieveBatch({ providerBatchId: 'batches/b1', signal });
  await expect(retrieving).rejects.toMatchObject({ code: 'credential_refused', mayHaveActed: false });
  await expect(retrieving).rejects.not.toThrow(/Secret/);
  expect(server.requests).toEqual([]);
});

test('follows no redirect, neither by itself nor through the SDK', async () => {
  const { provider, server } = await startWith((_, response) => response.writeHead(307, { location: '/else' }).end());
  await expect(provider.createBatch(createInput)).rejects.toMatchObject({ mayHaveActed: true });
  const cancelling = provider.cancelBatch({ providerBatchId: 'batches/b1', signal });
  await expect(cancelling).rejects.toMatchObject({ mayHaveActed: true });
  expect(server.requests).toEqual([CREATE, 'POST /v1beta/batches/b1:cancel']);
});

test.each([
  ['no headers', () => {}],
  ['half a body', (response: ServerResponse) => response.writeHead(200).write('{"name"')],
])('times out on %s', async (_name, reply) => {
  const { provider, server } = await startWith((_, response) => void reply(response), { requestTimeoutMs: 50 });
  await expect(provider.createBatch(createInput)).rejects.toMatchObject({ code: 'timed_out', mayHaveActed: true });
  await expect.poll(() => server.openReplies()).toBe(0);
});

test('an error of which half arrives is still an error of its status', async () => {
  const { provider } = await startWith(
    (_, response) => void response.writeHead(503, { 'content-length': '100' }).write('{"err'),
    { requestTimeoutMs: 1_500 },
  );
  await expect(provider.createBatch(createInput)).rejects.toMatchObject({ code: 'unavailable', status: 503 });
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
  [200, { error: { code: 500, message: 'lost' } }, 'malformed_reply'],
  [200, { name: 'batches/b1' }, 'malformed_reply'],
  [200, { ...BATCH, name: 'batches/b2' }, 'malformed_reply'],
  [200, null, 'malformed_reply'],
  [404, { error: { code: 404, message: 'Requested entity was not found.' } }, 'not_found'],
])('retrieve: %i with %j is %s', async (status, body, code) => {
  const { provider } = await startWith((_, response) => sendJson(response, status, body));
  const retrieving = provider.retrieveBatch({ providerBatchId: 'batches/b1', signal });
  await expect(retrieving).rejects.toMatchObject({ code, isRetryable: true });
});

test('a cancel is followed by a look, and a batch still at work is then being cancelled', async () => {
  const { provider, server } = await startWith((request, response) =>
    sendJson(response, 200, request.method === 'POST' ? {} : { ...BATCH, metadata: { state: 'BATCH_STATE_RUNNING' } }),
  );
  const batch = await provider.cancelBatch({ providerBatchId: 'batches/b1', signal });
  expect(batch).toMatchObject({ phase: 'cancelling', end: null, nativeStatus: 'BATCH_STATE_RUNNING' });
  expect(server.requests).toEqual(['POST /v1beta/batches/b1:cancel', 'GET /v1beta/batches/b1']);
});

test.each([200, 400, 409])('a cancel answered with %i returns a batch that has ended as it is', async (status) => {
  const { provider } = await startWith((request, response) =>
    request.method === 'POST' ? sendJson(response, status, status === 200 ? {} : NO) : sendJson(response, 200, ENDED),
  );
  expect(await provider.cancelBatch({ providerBatchId: 'batches/b1', signal })).toMatchObject({ end: 'completed' });
});

test('a cancel refused while the batch runs is an error', async () => {
  const { provider } = await startWith((request, response) =>
    request.method === 'POST' ? sendJson(response, 409, NO) : sendJson(response, 200, BATCH),
  );
  const cancelling = provider.cancelBatch({ providerBatchId: 'batches/b1', signal });
  await expect(cancelling).rejects.toMatchObject({ code: 'unavailable', status: 409, isRetryable: true });
});

test('asks for every page of the list, and takes no page that is no list for an empty one', async () => {
  const pages = [{ operations: [], nextPageToken: 'a&b' }, '<html>Please log in</html>'];
  const { provider, server } = await startWith((_, response) => sendJson(response, 200, pages.shift()));
  const finding = provider.findBatches({ ...createInput, createdAfter: new Date() });
  await expect(finding).rejects.toMatchObject({ code: 'malformed_reply' });
  expect(server.requests).toEqual([
    'GET /v1beta/batches?pageSize=100',
    'GET /v1beta/batches?pageSize=100&pageToken=a%26b',
  ]);
});

test('names the file of results, or the batch that carries them, whatever the input was', async () => {
  const outputs = [{ responsesFile: 'files/out' }, { inlinedResponses: { inlinedResponses: [] } }, {}];
  const { provider } = await startWith((_, response) =>
    sendJson(response, 200, { ...ENDED, response: outputs.shift() }),
  );
  const filesOf = async () =>
    provider.resultFiles(await provider.retrieveBatch({ providerBatchId: 'batches/b1', signal }));
  expect(await filesOf()).toEqual([{ kind: 'output', fileId: 'files/out' }]);
  expect(await filesOf()).toEqual([{ kind: 'output', fileId: 'batches/b1' }]);
  expect(await filesOf()).toEqual([]);
});

test.each(['application/octet-stream', 'application/json'])('downloads a file sent as %s', async (type) => {
  const text = '{"key":"a","error":{"code":13}}\n';
  for (const content of [text, text.repeat(1000), '']) {
    const { provider, server } = await startWith((_, response) =>
      response.setHeader('content-type', type).end(content),
    );
    expect(await download(provider)).toBe(content);
    expect(server.requests).toEqual(['GET /download/v1beta/files/out:download?alt=media']);
    await server.close();
  }
});

test('downloads from the other path where the first is unknown', async () => {
  const { provider, server } = await startWith((request, response) =>
    request.url?.startsWith('/download/') ? response.writeHead(404).end() : response.end('{"key":"a"}\n'),
  );
  expect(await download(provider)).toBe('{"key":"a"}\n');
  expect(server.requests[1]).toBe('GET /v1beta/files/out:download?alt=media');
});

test('a file that both paths do not know is not_found', async () => {
  const { provider } = await startWith((_, response) => sendJson(response, 404, { error: { message: 'No file' } }));
  await expect(download(provider)).rejects.toMatchObject({ code: 'not_found' });
});

test.each([
  ['an error object', 'application/json', '{"error":{"message":"The file is gone"}}'],
  ['a page', 'text/html', '<html>'],
])('does not take %s for a file', async (_name, type, content) => {
  const { provider } = await startWith((_, response) => response.setHeader('content-type', type).end(content));
  await expect(download(provider)).rejects.toMatchObject({ code: 'malformed_reply', isRetryable: true });
});

test('downloads the results that a batch carries', async () => {
  const reply = readFileSync(new URL('./fixtures/batch-succeeded-inline.json', import.meta.url));
  const { provider, server } = await startWith((_, response) => response.end(reply));
  const lines = (await download(provider, { fileId: 'batches/qx7k2m9d' })).split('\n');
  expect(lines.map((line) => /"key": "([^"]+)"/.exec(line)?.[1])).toEqual([
    'att01j7q2m5k8-2',
    'att01j7q2m5k8-1',
    undefined,
    undefined,
  ]);
  expect(server.requests).toEqual(['GET /v1beta/batches/qx7k2m9d']);
});

const ROW = `${'x'.repeat(100)}\n`;

function sendPart(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': '100000' });
  response.write(ROW);
}

test('a download cut short is connection_lost after the bytes that came', async () => {
  const { provider, server } = await startWith((request, response) => {
    sendPart(response);
    setImmediate(() => request.socket.end());
  });
  let received = '';
  const reading = async () => {
    for await (const chunk of provider.downloadFile({ file: { kind: 'output', fileId: 'files/f' }, signal })) {
      received += Buffer.from(chunk).toString();
    }
  };
  await expect(reading()).rejects.toMatchObject({ code: 'connection_lost', isRetryable: true });
  expect(received).toBe(ROW);
  await expect.poll(() => server.openReplies()).toBe(0);
});

test.each(['files/f', 'batches/b1'])(
  'a download of %s that goes silent is timed_out and closes its connection',
  async (fileId) => {
    const { provider, server } = await startWith((_, response) => sendPart(response), { idleTimeoutMs: 50 });
    await expect(download(provider, { fileId })).rejects.toMatchObject({ code: 'timed_out', isRetryable: true });
    await expect.poll(() => server.openReplies()).toBe(0);
  },
);

test('an aborted download closes its connection, and so does one its reader leaves', async () => {
  const controller = new AbortController();
  const { provider, server } = await startWith((_, response) => sendPart(response));
  const file = { kind: 'output', fileId: 'files/f' } as const;
  for await (const _ of provider.downloadFile({ file, signal })) break;
  await expect.poll(() => server.openReplies()).toBe(0);
  const reading = async () => {
    for await (const _ of provider.downloadFile({ file, signal: controller.signal })) controller.abort();
  };
  await expect(reading()).rejects.toMatchObject({ code: 'aborted' });
  await expect.poll(() => server.openReplies()).toBe(0);
});
