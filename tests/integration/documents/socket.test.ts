import { connect } from 'node:net';
import { afterAll, expect, test } from 'vitest';
import { serveApi } from '../../../api/server/http-server.ts';
import { createTestApi } from '../../harness/api.ts';
import { eventually } from '../../harness/eventually.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { testLimits } from '../../harness/request-limits.ts';
import { createTestFolder, formOf } from './document-fixture.ts';

const { db, drop } = await createTestDatabase();
const folder = createTestFolder();
const limits = testLimits(db, { maxUploads: 2, maxUploadsPerTenant: 1 });
const api = createTestApi(db, { artifacts: folder.store, limits });
const { promise: listening, resolve } = Promise.withResolvers<{ port: number }>();
const server = serveApi(
  api.app,
  {
    host: '127.0.0.1',
    port: 0,
    maxHeaderBytes: 16_384,
    headersTimeoutMs: 60_000,
    maxConnections: 100,
    bodyPace: { windowMs: 500, minBytes: 1_000 },
  },
  resolve,
);
const { port } = await listening;
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
  await drop();
  folder.remove();
});

const url = `http://127.0.0.1:${port}/v1/documents`;

async function send(
  key: string,
  content: Uint8Array,
): Promise<{ status: number; json: { error?: string; id?: string } }> {
  const { body, headers } = await formOf([
    ['file', content, 'a.txt'],
    ['batch_name', 'b'],
  ]);
  const answer = await fetch(url, {
    method: 'POST',
    headers: { ...headers, authorization: `Bearer ${key}` },
    body: new Uint8Array(body),
  });
  return { status: answer.status, json: (await answer.json()) as { error?: string } };
}

const head = (key: string, bytes: number) =>
  `POST /v1/documents HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Type: multipart/form-data; boundary=x\r\n` +
  `Content-Length: ${bytes}\r\n\r\n--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nbegun`;

test('a document comes over a socket, and one that is too large is refused on it', async () => {
  const { key } = await api.caller();
  expect((await send(key, Buffer.from('text'))).status).toBe(201);
  const large = await send(key, Buffer.alloc(4 * 1024 ** 2, 'a '));
  expect([large.status, large.json.error]).toEqual([413, 'document_too_large']);
  expect((await send(key, Buffer.from('more'))).status).toBe(201);
});

test('a client that leaves in the middle stores nothing and gives its place back', async () => {
  const caller = await api.caller();
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write(head(caller.key, 100_000));
  await eventually(() => limits.uploadsUnderWay === 1);
  expect((await send(caller.key, Buffer.from('text'))).json.error).toBe('concurrency_limit');
  socket.destroy();
  await eventually(() => limits.uploadsUnderWay === 0);
  expect((await caller.get('/v1/documents')).json.data).toEqual([]);
  expect((await send(caller.key, Buffer.from('text'))).status).toBe(201);
});

test('a body that hardly comes is cut with 408', async () => {
  const caller = await api.caller();
  const socket = connect(port, '127.0.0.1');
  socket.write(head(caller.key, 100_000));
  let answer = '';
  socket.on('data', (data) => {
    answer += data.toString();
  });
  await eventually(() => answer.includes('request_timeout'));
  expect(answer).toMatch(/^HTTP\/1\.1 408 /);
  await eventually(() => limits.uploadsUnderWay === 0);
  expect((await caller.get('/v1/documents')).json.data).toEqual([]);
});
