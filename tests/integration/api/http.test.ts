import { request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { serve } from '@hono/node-server';
import { afterAll, expect, test } from 'vitest';
import { chatItem, createTestApi } from '../../harness/api.ts';
import { eventually } from '../../harness/eventually.ts';
import { createTestDatabase, scopedDatabase } from '../../harness/postgres.ts';
import { settleItems } from '../../harness/settled-items.ts';

const { db, drop } = await createTestDatabase();
const api = createTestApi(db);
const listening = Promise.withResolvers<AddressInfo>();
const server = serve({ fetch: api.app.fetch, hostname: '127.0.0.1', port: 0 }, listening.resolve);
const base = `http://127.0.0.1:${(await listening.promise).port}`;
afterAll(async () => {
  await new Promise((closed) => server.close(closed));
  await drop();
});

const caller = await api.caller();
const authorization = `Bearer ${caller.key}`;

function lines(count: number): string {
  return Array.from({ length: count }, (_, index) => `${JSON.stringify(chatItem(`row_${index + 1}`))}\n`).join('');
}

test('a manifest streams in from a socket, gzip as well', async () => {
  const jobId = await caller.draft(0);
  for (const [body, headers] of [
    [lines(5000), {}],
    [new Uint8Array(gzipSync(lines(3000))), { 'content-encoding': 'gzip' }],
  ] as const) {
    const response = await fetch(`${base}/v1/batch-jobs/${jobId}/manifest`, {
      method: 'PUT',
      headers: { authorization, 'content-type': 'application/x-ndjson', ...headers },
      body,
    });
    expect(await response.json()).toMatchObject({ total: typeof body === 'string' ? 5000 : 3000 });
  }
});

test('a refusal of a body that is still being sent reaches its sender', async () => {
  const jobId = await caller.draft(0);
  const response = await fetch(`${base}/v1/batch-jobs/${jobId}/items`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'text/plain' },
    body: 'x'.repeat(3_000_000),
  });
  expect(response.status).toBe(415);
  expect((await fetch(`${base}/healthz`)).status).toBe(200);
});

test('a client that goes away in the middle of a stream leaves no connection in use', async () => {
  const jobId = await caller.submitted(40);
  const body = JSON.stringify({ text: 'x'.repeat(500_000) });
  await settleItems(
    db,
    jobId,
    Array.from({ length: 40 }, (_, index) => ({ itemNo: index + 1, body })),
  );
  const { promise: read, resolve } = Promise.withResolvers<number>();
  const headers = { authorization, accept: 'application/x-ndjson' };
  const request = httpRequest(`${base}/v1/batch-jobs/${jobId}/results`, { headers }, (response) => {
    response.once('data', (chunk: Buffer) => {
      request.destroy();
      resolve(chunk.length);
    });
  });
  request.on('error', () => {});
  request.end();
  expect(await read).toBeGreaterThan(0);
  await eventually(() => db.pool.totalCount === db.pool.idleCount);
  expect((await fetch(`${base}/healthz`)).status).toBe(200);
});

test('a reader that does not read holds back the rows', async () => {
  const jobId = await caller.submitted(60);
  const body = JSON.stringify({ text: 'x'.repeat(500_000) });
  await settleItems(
    db,
    jobId,
    Array.from({ length: 60 }, (_, index) => ({ itemNo: index + 1, body })),
  );
  let queries = 0;
  const { pool } = scopedDatabase(db);
  const { query } = pool;
  pool.query = ((...given: Parameters<typeof query>) => {
    if (String(given[0]).includes('FROM item_outcomes')) queries += 1;
    return query.apply(pool, given);
  }) as typeof query;
  const response = await fetch(`${base}/v1/batch-jobs/${jobId}/results`, {
    headers: { authorization, accept: 'application/x-ndjson' },
  });
  const reader = response.body?.getReader();
  await reader?.read();
  await eventually(() => queries > 0);
  const whileHeld = queries;
  let bytes = 0;
  for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) bytes += part.value.length;
  pool.query = query;
  expect(bytes).toBeGreaterThan(25_000_000);
  expect(queries).toBeGreaterThan(whileHeld);
});

test('a HEAD request is answered like its GET, without a body', async () => {
  const response = await fetch(`${base}/v1/batch-jobs`, { method: 'HEAD', headers: { authorization } });
  expect(response.status).toBe(200);
  expect(await response.text()).toBe('');
});

test('odd targets are the caller’s fault', async () => {
  const status = (path: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      const request = httpRequest(base, { path, headers: { authorization } }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      request.on('error', reject);
      request.end();
    });
  for (const path of [
    '/v1/batch-jobs/%zz',
    '/v1/batch-jobs/%00',
    '/v1/batch-jobs/a%2Fb',
    '//',
    '/v1/batch-jobs?%zz=%zz',
  ]) {
    const code = await status(path);
    expect(code, path).toBeGreaterThanOrEqual(400);
    expect(code, path).toBeLessThan(500);
  }
});
