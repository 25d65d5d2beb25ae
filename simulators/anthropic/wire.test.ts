import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { AT_ONCE, ask, call, ended, requests, startAnthropic, submit } from './testing/harness.ts';
import { stateFolder } from './testing/state-folder.ts';

const BATCHES = '/v1/messages/batches';
const NONE = { 'x-api-key': '' };

async function errorOf(response: Response) {
  expect(response.headers.get('content-type')).toBe('application/json');
  const body = (await response.json()) as { error: { type: string; message: string } };
  expect(body).toEqual({
    type: 'error',
    error: { type: expect.any(String), message: expect.any(String) },
    request_id: response.headers.get('request-id'),
  });
  return { status: response.status, type: body.error.type, message: body.error.message };
}

function create(url: string, body: string | Uint8Array<ArrayBuffer>, headers = {}) {
  return call(url, BATCHES, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } });
}

async function idOf(created: Promise<Response>): Promise<string> {
  return ((await (await created).json()) as { id: string }).id;
}

test.for([
  { name: 'x-api-key', headers: {}, facts: { auth: 'x-api-key', credential: '...-key' } },
  {
    name: 'bearer',
    headers: { ...NONE, authorization: 'Bearer sk-b' },
    facts: { auth: 'bearer', credential: '...sk-b' },
  },
  { name: 'both', headers: { authorization: 'Bearer invalid' }, facts: { auth: 'x-api-key', credential: '...-key' } },
  {
    name: 'the newer version',
    headers: { 'anthropic-version': '2026-10-21', 'x-stainless-retry-count': '2' },
    facts: { anthropic_version: '2026-10-21', retry_count: 2 },
  },
])('takes $name and notes it', async ({ headers, facts }) => {
  const { url, control } = await startAnthropic();
  expect((await call(url, BATCHES, { headers })).status).toBe(200);
  expect(await control.journal()).toMatchObject([{ provider: 'anthropic', route: 'batches.list', facts }]);
});

test.for([
  { name: 'no key', headers: NONE, status: 401, type: 'authentication_error' },
  { name: 'a wrong key', headers: { 'x-api-key': 'sk-invalid-1' }, status: 401, type: 'authentication_error' },
  {
    name: 'a wrong bearer',
    headers: { ...NONE, authorization: 'Bearer invalid' },
    status: 401,
    type: 'authentication_error',
  },
  { name: 'no version', headers: { 'anthropic-version': '' }, status: 400, type: 'invalid_request_error' },
  {
    name: 'another version',
    headers: { 'anthropic-version': '2024-01-01' },
    status: 400,
    type: 'invalid_request_error',
  },
])('refuses $name', async ({ headers, status, type }) => {
  const { url } = await startAnthropic();
  expect(await errorOf(await call(url, BATCHES, { headers }))).toMatchObject({ status, type });
});

test('sends a request id and rate limits with every reply', async () => {
  const { url, client } = await startAnthropic();
  const { id } = await submit(client, ['a']);
  await ended(client, id);
  for (const path of [BATCHES, `${BATCHES}/${id}/results`, `${BATCHES}/msgbatch_none`, '/v1/nowhere']) {
    const { headers } = await call(url, path);
    expect(headers.get('request-id')).toMatch(/^req_[0-9a-f]+$/);
    for (const what of ['requests', 'tokens', 'input-tokens', 'output-tokens']) {
      expect(Number(headers.get(`anthropic-ratelimit-${what}-remaining`))).toBeGreaterThan(0);
      expect(headers.get(`anthropic-ratelimit-${what}-limit`)).toMatch(/^\d+$/);
      expect(headers.get(`anthropic-ratelimit-${what}-reset`)).toMatch(/^\d{4}-\d\d-\d\dT/);
    }
  }
});

test('answers an unknown path in its own envelope', async () => {
  const { url } = await startAnthropic();
  expect(await errorOf(await call(url, '/v1/nowhere'))).toMatchObject({ status: 404, type: 'not_found_error' });
});

const GOOD = { custom_id: 'a', params: {} };

test.for([
  { body: '', message: 'JSON' },
  { body: 'requests=1', message: 'JSON' },
  { body: '[]', message: 'JSON' },
  { body: '{"requests":[{"custom_id":"a","params":{}}', message: 'JSON' },
  { body: '{"requests":[{"custom_id":"a","params":{"a":nul}}]}', message: 'JSON' },
  { body: new Uint8Array([...Buffer.from('{"requests":["'), 0xff, ...Buffer.from('"]}')]), message: 'JSON' },
  { body: '{}', message: 'requests: Field required' },
  { body: '{"requests":{}}', message: 'requests: Input should be a valid list' },
  { body: '{"requests":[]}', message: 'requests: List should have at least 1 item' },
  { body: { requests: [GOOD], metadata: {} }, message: 'metadata: Extra inputs are not permitted' },
  { body: { requests: [GOOD, 'b'] }, message: 'requests.1: ' },
  { body: { requests: [{ params: {} }] }, message: 'requests.0.custom_id: Field required' },
  { body: { requests: [{ custom_id: 1, params: {} }] }, message: 'requests.0.custom_id: ' },
  { body: { requests: [GOOD, { custom_id: 'b c', params: {} }] }, message: 'requests.1.custom_id: ' },
  { body: { requests: [{ custom_id: '', params: {} }] }, message: 'requests.0.custom_id: ' },
  { body: { requests: [{ custom_id: 'a'.repeat(65), params: {} }] }, message: 'requests.0.custom_id: String should' },
  { body: { requests: [GOOD, { ...GOOD, custom_id: 'b' }, GOOD] }, message: 'requests.2.custom_id: ' },
  { body: { requests: [{ custom_id: 'a' }] }, message: 'requests.0.params: Field required' },
  { body: { requests: [{ custom_id: 'a', params: [] }] }, message: 'requests.0.params: ' },
  { body: { requests: [{ ...GOOD, method: 'POST' }] }, message: 'requests.0.method: Extra inputs' },
  { body: '{"requests":[],"requests":[]}', message: 'requests: given twice' },
])('refuses a create with $message', async ({ body, message }) => {
  const { url, client } = await startAnthropic();
  const sent = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
  const error = await errorOf(await create(url, sent));
  expect(error).toMatchObject({
    status: 400,
    type: 'invalid_request_error',
    message: expect.stringContaining(message),
  });
  expect((await client.messages.batches.list()).data).toEqual([]);
});

test('leaves what is wrong with the params of an item to the item', async () => {
  const { url, client } = await startAnthropic();
  const id = await idOf(create(url, JSON.stringify({ requests: [GOOD] })));
  expect((await ended(client, id)).request_counts).toMatchObject({ succeeded: 0, errored: 1 });
});

test('refuses more requests or bytes than a batch may have, having read them all', async () => {
  const { url } = await startAnthropic({ ...AT_ONCE, maxItems: 2, maxBytes: 400 });
  const body = (count: number, padding: number) =>
    JSON.stringify({ requests: requests(Array(count).fill('a')) }).padEnd(padding, ' ');
  expect((await create(url, body(2, 400))).status).toBe(200);
  expect(await errorOf(await create(url, body(3, 0)))).toMatchObject({ status: 400, type: 'invalid_request_error' });
  expect(await errorOf(await create(url, body(2, 401)))).toMatchObject({ status: 413, type: 'request_too_large' });
  expect(await errorOf(await create(url, body(1, 4_000_000)))).toMatchObject({ status: 413 });
});

test('names its results by the host it was asked at, and in the journal what a create held', async () => {
  const { url, client, control } = await startAnthropic();
  const body = JSON.stringify({ requests: requests(['a', 'b']) }, null, 2);
  const id = await idOf(create(url, body));
  await ended(client, id);
  const host = url.replace('http://127.0.0.1', 'localhost');
  const shown = await new Promise<string>((resolve, reject) => {
    const headers = { host, 'x-api-key': 'k', 'anthropic-version': '2023-06-01' };
    request(`${url}${BATCHES}/${id}`, { headers }, (response) => {
      response.setEncoding('utf8').once('data', resolve);
    })
      .once('error', reject)
      .end();
  });
  expect(JSON.parse(shown).results_url).toBe(`http://${host}${BATCHES}/${id}/results`);
  expect((await control.journal({ route: 'batches.create' }))[0]?.facts).toMatchObject({
    batch_id: id,
    items: 2,
    bytes: body.length,
    first_custom_id: 'item-0',
  });
});

test('streams results as lines of JSON, the same at every download', async () => {
  const { url, client } = await startAnthropic();
  const { id } = await submit(client, ['a\nb', 'c']);
  await ended(client, id);
  const download = await call(url, `${BATCHES}/${id}/results`);
  expect(download.headers.get('content-type')).toBe('application/x-jsonl');
  const text = await download.text();
  expect(text.endsWith('\n')).toBe(true);
  expect(
    text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).custom_id)
      .sort(),
  ).toEqual(['item-0', 'item-1']);
  const again = await (await call(url, `${BATCHES}/${id}/results`)).text();
  const digest = (value: string) => createHash('sha256').update(value).digest('hex');
  expect(digest(again)).toBe(digest(text));
});

test('has no results for a batch that runs', async () => {
  const { url, client } = await startAnthropic({ inProgressMs: 60_000 });
  const { id } = await submit(client, ['a']);
  expect(await errorOf(await call(url, `${BATCHES}/${id}/results`))).toMatchObject({ status: 404 });
});

test('refuses a single call that is no JSON or wants a stream', async () => {
  const { url } = await startAnthropic();
  const post = (body: string) => call(url, '/v1/messages', { method: 'POST', body });
  expect(await errorOf(await post('hello'))).toMatchObject({ status: 400, message: expect.stringContaining('JSON') });
  expect(await errorOf(await post(JSON.stringify({ ...ask('Hi'), stream: true })))).toMatchObject({ status: 400 });
});

test('makes no batch of a body that broke off', async () => {
  const statePath = await stateFolder();
  const { url, client, control } = await startAnthropic(AT_ONCE, { statePath });
  const headers = { 'x-api-key': 'k', 'anthropic-version': '2023-06-01', 'content-length': '1000' };
  const broken = request(`${url}${BATCHES}`, { method: 'POST', headers }).on('error', () => undefined);
  broken.write('{"requests":[{"custom_id":"a","params":{}},');
  await expect.poll(() => control.journal()).toHaveLength(1);
  broken.destroy();
  await expect.poll(async () => (await control.journal())[0]?.ended_at).not.toBeNull();
  await expect.poll(() => readdir(join(statePath, 'anthropic', 'bytes'))).toEqual([]);
  expect((await client.messages.batches.list()).data).toEqual([]);
});
