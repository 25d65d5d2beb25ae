import { connect, type Socket } from 'node:net';
import { afterAll, expect, test } from 'vitest';
import { serveApi } from '../../../api/server/http-server.ts';
import { chatItem, createTestApi } from '../../harness/api.ts';
import { eventually } from '../../harness/eventually.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { testLimits } from '../../harness/request-limits.ts';

const { db, drop } = await createTestDatabase();
const limits = testLimits(db, { maxUploads: 3, maxUploadsPerTenant: 2 });
const api = createTestApi(db, { limits });
const { promise: listening, resolve } = Promise.withResolvers<{ port: number }>();
const server = serveApi(
  api.app,
  {
    host: '127.0.0.1',
    port: 0,
    maxHeaderBytes: 16_384,
    headersTimeoutMs: 60_000,
    maxConnections: 100,
    bodyPace: { windowMs: 60_000, minBytes: 1 },
  },
  resolve,
);
const { port } = await listening;
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
  await drop();
});

/** An upload that has begun and does not go on by itself. */
async function beginUpload(key: string, jobId: string): Promise<Socket> {
  const before = limits.uploadsUnderWay;
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write(
    `PUT /v1/batch-jobs/${jobId}/manifest HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n` +
      `Content-Type: application/x-ndjson\r\nContent-Length: 1000000\r\n\r\n${JSON.stringify(chatItem('row_1'))}\n`,
  );
  await eventually(() => limits.uploadsUnderWay === before + 1);
  return socket;
}

test('uploads at once are bounded for a tenant and for the process, and a client that leaves makes room', async () => {
  const [one, two] = [await api.caller(), await api.caller()];
  const [jobOfOne, jobOfTwo] = [await one.draft(0), await two.draft(0)];
  const body = { body: `${JSON.stringify(chatItem('row_1'))}\n`, headers: { 'content-type': 'application/x-ndjson' } };
  const put = (caller: typeof one, jobId: string) => caller.call('PUT', `/v1/batch-jobs/${jobId}/manifest`, body);

  const first = await beginUpload(one.key, jobOfOne);
  const second = await beginUpload(one.key, jobOfOne);
  const ofTenant = await put(one, jobOfOne);
  expect(ofTenant).toMatchObject({ status: 429, json: { error: 'concurrency_limit' } });
  expect(ofTenant.json.message).toContain('has 2 uploads under way here, and may have 2 at once');
  expect(ofTenant.headers.get('retry-after')).toBe('5');
  expect((await put(two, jobOfTwo)).status).toBe(200);

  const third = await beginUpload(two.key, jobOfTwo);
  const ofProcess = await put(two, jobOfTwo);
  expect(ofProcess).toMatchObject({ status: 429, json: { error: 'concurrency_limit' } });
  expect(ofProcess.json.message).toContain('takes 3 at once');
  expect((await two.get(`/v1/batch-jobs/${jobOfTwo}`)).status).toBe(200);

  first.destroy();
  await eventually(() => limits.uploadsUnderWay === 2);
  expect((await put(one, jobOfOne)).status).toBe(200);
  second.destroy();
  third.destroy();
  await eventually(() => limits.uploadsUnderWay === 0);
});

test('an upload that is refused gives its place back, and a policy may allow fewer', async () => {
  const tenantId = await api.tenant();
  await db.pool.query(`UPDATE tenants SET policy = '{"max_uploads": 1}' WHERE tenant_id = $1`, [tenantId]);
  const caller = await api.caller('tenant_admin', { tenantId });
  const jobId = await caller.draft(0);
  const bad = { body: 'not json', headers: { 'content-type': 'application/x-ndjson' } };
  expect((await caller.call('PUT', `/v1/batch-jobs/${jobId}/manifest`, bad)).status).toBe(400);
  expect(limits.uploadsUnderWay).toBe(0);
  const socket = await beginUpload(caller.key, jobId);
  expect((await caller.call('PUT', `/v1/batch-jobs/${jobId}/manifest`, bad)).json.error).toBe('concurrency_limit');
  socket.destroy();
  await eventually(() => limits.uploadsUnderWay === 0);
});
