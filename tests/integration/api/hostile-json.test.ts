import { afterAll, expect, test } from 'vitest';
import { createTestApi } from '../../harness/api.ts';
import { createTestDatabase } from '../../harness/postgres.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);
const api = createTestApi(db);
const caller = await api.caller();
const admin = await api.caller('gateway_admin');

const JSON_TYPE = { 'content-type': 'application/json' };
const LINES_TYPE = { 'content-type': 'application/x-ndjson' };
const LEVELS = 100_000;
const DEEP = '['.repeat(LEVELS) + ']'.repeat(LEVELS);
const UNCLOSED = '{"a":'.repeat(LEVELS);
const JOB = '"endpoint":"chat.completions","model":"openai/gpt-4o-mini"';

test.each([
  ['a list', DEEP],
  ['an object that never ends', UNCLOSED],
  ['metadata', `{${JOB},"metadata":{"a":${DEEP}}}`],
  ['request_defaults', `{${JOB},"request_defaults":{"messages":${DEEP}}}`],
])('%s a hundred thousand levels deep is 400, and says why', async (_, body) => {
  for (const call of [
    caller.call('POST', '/v1/batch-jobs', { body, headers: JSON_TYPE }),
    admin.call('POST', '/v1/admin/prices', { body, headers: JSON_TYPE }),
  ]) {
    const answer = await call;
    expect(answer).toMatchObject({ status: 400, json: { error: 'invalid_json' } });
    expect(answer.json.message).toContain('nested deeper than 100 levels');
  }
});

test.each([
  ['of a manifest', 'PUT', 'manifest', (item: string) => item, LINES_TYPE],
  ['of an append of lines', 'POST', 'items', (item: string) => item, LINES_TYPE],
  ['of a JSON append', 'POST', 'items', (item: string) => `{"items":[${item}]}`, JSON_TYPE],
])('an item %s that deep is told by its id', async (_, method, path, wrap, headers) => {
  const jobId = await caller.draft(0);
  const item = `{"custom_id":"a","request":{"messages":${DEEP}}}`;
  const answer = await caller.call(method, `/v1/batch-jobs/${jobId}/${path}`, { body: wrap(item), headers });
  expect(answer).toMatchObject({ status: 400, json: { details: [{ custom_id: 'a', error: 'invalid_json' }] } });
  expect(answer.json.details[0].message).toContain('nested deeper than 100 levels');
});

test('an item with a million unknown members is refused with a few of them', async () => {
  const jobId = await caller.draft(0);
  const members = Array.from({ length: 500_000 }, (_, index) => `"k${index}":0`).join(',');
  const body = `{"custom_id":"a","request":{},${members}}`;
  const answer = await caller.call('PUT', `/v1/batch-jobs/${jobId}/manifest`, { body, headers: LINES_TYPE });
  expect(answer).toMatchObject({ status: 400, json: { details_count: 20 } });
});

test.each([
  ['a lone surrogate', String.raw`{"custom_id":"a","request":{"messages":"\ud800"}}`],
  ['a lone surrogate in a name', String.raw`{"custom_id":"a","request":{"\udc00":1}}`],
  ['a number beyond a double', '{"custom_id":"a","request":{"seed":1e999}}'],
])('%s in a line is 400', async (_, body) => {
  const jobId = await caller.draft(0);
  const answer = await caller.call('PUT', `/v1/batch-jobs/${jobId}/manifest`, { body, headers: LINES_TYPE });
  expect(answer).toMatchObject({ status: 400, json: { error: 'invalid_json' } });
});

test.each([
  ['a very long name', { name: 'x'.repeat(1_000_000) }],
  [
    'very many pairs of metadata',
    { metadata: Object.fromEntries(Array.from({ length: 50_000 }, (_, n) => [`k${n}`, ''])) },
  ],
  ['very many unknown members', Object.fromEntries(Array.from({ length: 50_000 }, (_, n) => [`k${n}`, 0]))],
])('%s is 400 with an answer of modest size', async (_, members) => {
  const answer = await caller.post('/v1/batch-jobs', { endpoint: 'chat.completions', model: 'a/b', ...members });
  expect(answer.status).toBe(400);
  expect(answer.text.length).toBeLessThan(100_000);
});
