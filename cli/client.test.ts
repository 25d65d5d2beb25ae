import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { z } from 'zod';
import { Client } from './client.ts';
import { CommandError } from './errors.ts';

interface Answer {
  readonly status?: number;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: string;
  /** Breaks the connection: before the answer, or in its middle. */
  readonly drop?: 'before' | 'within';
}

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** A server that gives these answers, one a request, and a client of it that does not really wait. */
async function setUp(answers: readonly Answer[]) {
  const rest = [...answers];
  const requests: { method: string; url: string; headers: NodeJS.Dict<string | string[]>; body: string }[] = [];
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await Array.fromAsync(request)).toString();
    requests.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body });
    const answer = rest.shift() ?? {};
    if (answer.drop === 'before') request.socket.destroy();
    else if (answer.drop === 'within') response.write('{"half', () => request.socket.destroy());
    else response.writeHead(answer.status ?? 200, answer.headers).end(answer.body ?? '{"ok":true}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  closing.push(() => new Promise((resolve) => server.close(() => resolve())));
  const pauses: number[] = [];
  const client = new Client({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    key: 'secret',
    unreachableFix: 'Start it.',
    fetch,
    sleep: async (delayMs) => {
      pauses.push(delayMs);
    },
    userAgent: 'test/1',
  });
  return { client, requests, pauses };
}

const Ok = z.object({ ok: z.boolean() });
const REFUSED = JSON.stringify({ error: 'not_found', message: 'No such job.', request_id: 'req_1' });

async function errorOf(promise: Promise<unknown>): Promise<CommandError> {
  const error = await promise.catch((caught: unknown) => caught);
  if (error instanceof CommandError) return error;
  throw new Error('no CommandError', { cause: error });
}

test('sends key, agent and query, and keeps members it does not know', async () => {
  const { client, requests } = await setUp([{ body: '{"ok":true,"new":1}' }]);
  expect(await client.get('/v1/x', Ok, { a: 'b c', n: 1, none: undefined })).toEqual({ ok: true, new: 1 });
  expect(requests[0]).toMatchObject({
    method: 'GET',
    url: '/v1/x?a=b+c&n=1',
    headers: { authorization: 'Bearer secret', 'user-agent': 'test/1' },
  });
});

test('sends JSON and lines', async () => {
  const { client, requests } = await setUp([{}, {}]);
  await client.send('POST', '/p', Ok, { json: { a: 1 }, idempotencyKey: 'k', headers: { Prefer: 'wait=5' } });
  async function* lines() {
    yield Buffer.from('1\n');
    yield Buffer.from('2\n');
  }
  await client.send('PUT', '/q', Ok, { lines: lines() });
  expect(requests[0]).toMatchObject({
    body: '{"a":1}',
    headers: { 'content-type': 'application/json', 'idempotency-key': 'k', prefer: 'wait=5' },
  });
  expect(requests[1]).toMatchObject({ body: '1\n2\n', headers: { 'content-type': 'application/x-ndjson' } });
});

test.each([
  ['a broken connection', { drop: 'before' }, 250],
  ['503', { status: 503, body: REFUSED }, 250],
  ['429 with a time to wait', { status: 429, headers: { 'retry-after': '2' }, body: REFUSED }, 2000],
  ['429 with a long time to wait', { status: 429, headers: { 'retry-after': '3600' }, body: REFUSED }, 5000],
] as const)('repeats what is safe to repeat after %s', async (_what, answer, pauseMs) => {
  const { client, requests, pauses } = await setUp([answer, {}, answer, {}]);
  expect(await client.get('/v1/x', Ok)).toEqual({ ok: true });
  expect(await client.send('POST', '/v1/x', Ok, { json: {}, idempotencyKey: 'k' })).toEqual({ ok: true });
  expect(requests).toHaveLength(4);
  expect(pauses).toEqual([pauseMs, pauseMs]);
});

test('never repeats what is not safe to repeat', async () => {
  const { client, requests } = await setUp([{ drop: 'before' }, {}]);
  expect((await errorOf(client.send('POST', '/v1/x', Ok))).exit).toBe('unreachable');
  expect(requests).toHaveLength(1);
});

test('gives up after some tries, with what to do', async () => {
  const { client, requests } = await setUp(Array.from({ length: 9 }, () => ({ drop: 'before' }) as const));
  const error = await errorOf(client.get('/v1/x', Ok));
  expect(error.exit).toBe('unreachable');
  expect(error.facts).toMatchObject({ fix: 'Start it.' });
  expect(requests).toHaveLength(4);
});

test('passes a refusal on', async () => {
  const { client, requests } = await setUp([{ status: 404, body: REFUSED }]);
  const error = await errorOf(client.get('/v1/x', Ok));
  expect(error.exit).toBe('refused');
  expect(error.facts).toMatchObject({ error: 'not_found', message: 'No such job.', request_id: 'req_1' });
  expect(requests).toHaveLength(1);
});

test.each([
  ['an answer that is no JSON', { body: '<html>' }, 'does not understand (the body)'],
  ['an answer of another shape', { body: '{"ok":"yes"}' }, 'does not understand (ok)'],
  ['a refusal that is none of a gateway', { status: 404, body: '<html>' }, 'answered 404, and not as a gateway does'],
])('tells %s apart', async (_what, answer, message) => {
  const { client } = await setUp([answer]);
  const error = await errorOf(client.get('/v1/x', Ok));
  expect([error.exit, error.message]).toEqual(['unreachable', expect.stringContaining(message)]);
});

test('streams an answer, and says when it breaks off', async () => {
  const { client } = await setUp([{ body: 'a,b\r\n' }, { drop: 'within' }]);
  expect(Buffer.concat(await Array.fromAsync(client.stream('/u', 'text/csv'))).toString()).toBe('a,b\r\n');
  const error = await errorOf(Array.fromAsync(client.stream('/u', 'text/csv')));
  expect([error.exit, error.message]).toEqual(['unreachable', expect.stringContaining('broke off before its end')]);
});

test.each(['foo', 'ftp://x', ''])('refuses %j for a URL', (url) => {
  const options = { key: 'k', unreachableFix: '', fetch, sleep: async () => undefined, userAgent: 't' };
  expect(() => new Client({ ...options, url })).toThrow('is not an http or https URL');
});
