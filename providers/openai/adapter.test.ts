import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { type ScriptedServer, sendJson, startScriptedServer } from '../../tests/contract/scripted-server.ts';
import type { BatchProvider } from '../provider.ts';
import { createOpenAiProvider } from './adapter.ts';

const BATCH = {
  id: 'batch_1',
  object: 'batch',
  status: 'in_progress',
  created_at: 1_795_000_000,
  input_file_id: 'file-1',
};
const { signal } = new AbortController();
const createInput = {
  attemptToken: 'att-1',
  endpoint: 'responses',
  model: 'gpt-5',
  itemCount: 1,
  inputFileId: 'file-1',
  path: null,
  signal,
} as const;

let server: ScriptedServer | undefined;

afterEach(async () => {
  await server?.close();
  server = undefined;
});

async function startWith(
  reply: (request: IncomingMessage, response: ServerResponse) => void,
  timeouts: { requestTimeoutMs?: number; idleTimeoutMs?: number } = {},
): Promise<{ provider: BatchProvider; server: ScriptedServer }> {
  server = await startScriptedServer(reply);
  const settings = { apiKey: 'sk-test-key', baseUrl: `${server.url}/v1`, requestTimeoutMs: 5000, idleTimeoutMs: 5000 };
  return { provider: createOpenAiProvider({ ...settings, ...timeouts }), server };
}

async function readAll(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  let text = '';
  for await (const chunk of chunks) text += Buffer.from(chunk).toString();
  return text;
}

const download = (provider: BatchProvider, aborting = signal) =>
  readAll(provider.downloadFile({ file: { kind: 'output', fileId: 'file-out' }, signal: aborting }));

test('creates with the token, the window and the path of the endpoint', async () => {
  const { provider, server } = await startWith((_, response) => sendJson(response, 200, BATCH));
  expect(await provider.createBatch(createInput)).toMatchObject({ providerBatchId: 'batch_1', phase: 'running' });
  expect(server.requests).toEqual(['POST /v1/batches']);
  expect(JSON.parse(server.lastBody())).toEqual({
    input_file_id: 'file-1',
    endpoint: '/v1/responses',
    completion_window: '24h',
    metadata: { batchgate_attempt: 'att-1' },
  });
});

test('takes a created batch that does not name its status', async () => {
  const { provider } = await startWith((_, response) => sendJson(response, 200, { id: 'batch_1' }));
  expect(await provider.createBatch(createInput)).toMatchObject({ providerBatchId: 'batch_1', phase: 'running' });
});

test.each([
  ['a page', (response: ServerResponse) => response.end('<html>Welcome</html>')],
  ['an error object', (response: ServerResponse) => sendJson(response, 200, { error: { message: 'odd' } })],
  [
    'an object without id',
    (response: ServerResponse) => sendJson(response, 200, { object: 'batch', status: 'validating' }),
  ],
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
  [429, 'rate_limited', false],
  [409, 'unavailable', true],
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

test('a create without an uploaded file is refused before it is sent', async () => {
  const { provider, server } = await startWith((_, response) => sendJson(response, 200, BATCH));
  await expect(provider.createBatch({ ...createInput, inputFileId: null })).rejects.toMatchObject({ code: 'rejected' });
  expect(server.requests).toEqual([]);
});

test('follows no redirect', async () => {
  const { provider, server } = await startWith((_, response) =>
    response.writeHead(307, { location: '/elsewhere' }).end(),
  );
  await expect(provider.createBatch(createInput)).rejects.toMatchObject({ mayHaveActed: true });
  expect(server.requests).toEqual(['POST /v1/batches']);
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
  [200, { error: { message: 'lost' } }, 'malformed_reply'],
  [200, { id: 'batch_1' }, 'malformed_reply'],
  [200, { ...BATCH, id: 'batch_2' }, 'malformed_reply'],
  [200, null, 'malformed_reply'],
  [404, { error: { message: 'No such batch' } }, 'not_found'],
])('retrieve: %i with %j is %s', async (status, body, code) => {
  const { provider } = await startWith((_, response) => sendJson(response, status, body));
  const retrieving = provider.retrieveBatch({ providerBatchId: 'batch_1', signal });
  await expect(retrieving).rejects.toMatchObject({ code, isRetryable: true });
});

test.each([400, 409])('a cancel refused with %i returns a batch that has ended', async (status) => {
  const { provider, server } = await startWith((request, response) =>
    request.method === 'POST'
      ? sendJson(response, status, { error: { message: "Cannot cancel a batch with status 'completed'." } })
      : sendJson(response, 200, { ...BATCH, status: 'completed' }),
  );
  const batch = await provider.cancelBatch({ providerBatchId: 'batch_1', signal });
  expect(batch).toMatchObject({ end: 'completed' });
  expect(server.requests).toEqual(['POST /v1/batches/batch_1/cancel', 'GET /v1/batches/batch_1']);
});

test('a cancel refused while the batch runs is an error', async () => {
  const { provider } = await startWith((request, response) =>
    request.method === 'POST'
      ? sendJson(response, 409, { error: { message: 'busy' } })
      : sendJson(response, 200, BATCH),
  );
  const cancelling = provider.cancelBatch({ providerBatchId: 'batch_1', signal });
  await expect(cancelling).rejects.toMatchObject({ code: 'unavailable', status: 409, isRetryable: true });
});

test('takes no page that is no list for an empty one', async () => {
  const { provider } = await startWith((_, response) => response.end('<html>Please log in</html>'));
  const finding = provider.findBatches({ ...createInput, createdAfter: new Date() });
  await expect(finding).rejects.toMatchObject({ code: 'malformed_reply' });
});

test('uploads the file as it is, for batches', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'openai-adapter-'));
  const path = join(folder, 'input.jsonl');
  await writeFile(path, '{"a":"é"}\n');
  const { provider, server } = await startWith((_, response) => sendJson(response, 200, { id: 'file-9' }));
  expect(await provider.uploadInput({ path, fileName: 'att-1', signal })).toEqual({ inputFileId: 'file-9' });
  expect(server.requests).toEqual(['POST /v1/files']);
  expect(server.lastBody()).toMatch(
    /name="file"; filename="att-1.jsonl"[\s\S]*\{"a":"é"\}\n\r\n[\s\S]*name="purpose"\r\n\r\nbatch/,
  );
  await rm(folder, { recursive: true });
});

test('names the output file before the error file, and each once', async () => {
  const { provider } = await startWith((_, response) =>
    sendJson(response, 200, { ...BATCH, status: 'expired', output_file_id: 'file-o', error_file_id: 'file-e' }),
  );
  const batch = await provider.retrieveBatch({ providerBatchId: 'batch_1', signal });
  expect(provider.resultFiles(batch)).toEqual([
    { kind: 'output', fileId: 'file-o' },
    { kind: 'error', fileId: 'file-e' },
  ]);
  expect(provider.resultFiles({ ...batch, outputFileId: null })).toEqual([{ kind: 'error', fileId: 'file-e' }]);
  expect(provider.resultFiles({ ...batch, errorFileId: 'file-o' })).toEqual([{ kind: 'output', fileId: 'file-o' }]);
});

test.each(['application/octet-stream', 'application/json'])('downloads a file sent as %s', async (type) => {
  const text = '{"error":{"code":"batch_expired"},"custom_id":"a"}\n';
  for (const content of [text, text.repeat(1000), '']) {
    const { provider, server } = await startWith((_, response) =>
      response.setHeader('content-type', type).end(content),
    );
    expect(await download(provider)).toBe(content);
    await server.close();
  }
});

test.each([
  ['an error object', 'application/json', '{"error":{"message":"The file is gone"}}'],
  ['a page', 'text/html', '<html>'],
])('does not take %s for a file', async (_name, type, content) => {
  const { provider, server } = await startWith((_, response) => response.setHeader('content-type', type).end(content));
  await expect(download(provider)).rejects.toMatchObject({ code: 'malformed_reply', isRetryable: true });
  expect(server.requests).toEqual(['GET /v1/files/file-out/content']);
});

test('a file that expired is not_found', async () => {
  const { provider } = await startWith((_, response) =>
    sendJson(response, 404, { error: { message: 'No such File' } }),
  );
  await expect(download(provider)).rejects.toMatchObject({ code: 'not_found' });
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
    for await (const chunk of provider.downloadFile({ file: { kind: 'output', fileId: 'f' }, signal })) {
      received += Buffer.from(chunk).toString();
    }
  };
  await expect(reading()).rejects.toMatchObject({ code: 'connection_lost', isRetryable: true });
  expect(received).toBe(ROW);
  await expect.poll(() => server.openReplies()).toBe(0);
});

test('a download that goes silent is timed_out and closes its connection', async () => {
  const { provider, server } = await startWith((_, response) => sendPart(response), { idleTimeoutMs: 50 });
  await expect(download(provider)).rejects.toMatchObject({ code: 'timed_out', isRetryable: true });
  await expect.poll(() => server.openReplies()).toBe(0);
});

test('an aborted download closes its connection, and so does one its reader leaves', async () => {
  const controller = new AbortController();
  const { provider, server } = await startWith((_, response) => sendPart(response));
  const file = { kind: 'output', fileId: 'f' } as const;
  for await (const _ of provider.downloadFile({ file, signal })) break;
  await expect.poll(() => server.openReplies()).toBe(0);
  const reading = async () => {
    for await (const _ of provider.downloadFile({ file, signal: controller.signal })) controller.abort();
  };
  await expect(reading()).rejects.toMatchObject({ code: 'aborted' });
  await expect.poll(() => server.openReplies()).toBe(0);
});

const COMPATIBLE = { provider: 'contoso', auth: 'api-key', pathPrefix: '' } as const;

test('speaks to a compatible provider under its own name, with its header and its paths', async () => {
  vi.stubEnv('OPENAI_CUSTOM_HEADERS', 'X-Other: yes\nAuthorization: Bearer other');
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  let headers: IncomingHttpHeaders = {};
  server = await startScriptedServer((request, response) => {
    headers = request.headers;
    sendJson(response, 200, { job: { ...BATCH, status: 'VALIDATING' } });
  });
  const provider = createOpenAiProvider({
    apiKey: 'contoso-key',
    baseUrl: `${server.url}/openai/v1`,
    compatible: COMPATIBLE,
    requestTimeoutMs: 5000,
    idleTimeoutMs: 5000,
  });
  expect(provider.provider).toBe('contoso');
  expect(await provider.createBatch(createInput)).toMatchObject({ providerBatchId: 'batch_1', phase: 'validating' });
  expect(headers).toMatchObject({ 'api-key': 'contoso-key' });
  expect(headers).not.toHaveProperty('authorization');
  expect(headers).not.toHaveProperty('x-other');
  expect(JSON.parse(server.lastBody())).toMatchObject({ endpoint: '/responses' });
});
