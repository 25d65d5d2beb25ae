import { afterAll, expect, test } from 'vitest';
import { createTestApi } from '../../harness/api.ts';
import { createTestDatabase } from '../../harness/postgres.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);
const api = createTestApi(db);
const caller = await api.caller();
const operator = await api.caller('operator');

const JSON_TYPE = { 'content-type': 'application/json' };

async function anonymous(path: string, headers: Record<string, string> = {}) {
  const response = await api.app.request(path, { headers });
  return { response, json: await response.json() };
}

test.each([
  ['no key', {}],
  ['another scheme', { authorization: 'Basic eDp5' }],
  ['no bearer token', { authorization: 'Bearer' }],
  ['a key that was never given out', { authorization: `Bearer bg_tenant_${'x'.repeat(43)}` }],
  ['something that is no key', { authorization: 'Bearer \u00ff' }],
])('%s is 401 in the envelope', async (_, headers) => {
  for (const path of ['/v1/batch-jobs', '/v1/no-such-path', '/v1/operator/ledger/verify']) {
    const { response, json } = await anonymous(path, headers);
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toBe('Bearer');
    expect(json).toEqual({
      error: 'unauthorized',
      message: expect.any(String),
      request_id: response.headers.get('x-request-id'),
    });
  }
});

test('a suspended tenant is 403 where it would start new work', async () => {
  const tenantId = await api.tenant();
  const suspended = await api.caller('tenant_admin', { tenantId });
  await db.pool.query('UPDATE tenants SET suspended_at = now() WHERE tenant_id = $1', [tenantId]);
  const job = { endpoint: 'chat.completions', model: 'openai/gpt-4o-mini' };
  const refused = await suspended.post('/v1/batch-jobs', job);
  expect(refused).toMatchObject({ status: 403, json: { error: 'tenant_suspended' } });
  expect((await suspended.get('/v1/batch-jobs')).status).toBe(200);
});

test('a role that a route is not for is 403 before anything is looked at', async () => {
  const paths = ['/v1/operator/jobs/x', '/v1/operator/ledger/verify?colour=red'];
  for (const path of paths) expect(await caller.get(path)).toMatchObject({ status: 403, json: { error: 'forbidden' } });
  for (const path of ['/v1/batch-jobs', '/v1/batch-jobs/x', '/v1/usage', '/v1/budgets', '/v1/models']) {
    expect(await operator.get(path)).toMatchObject({ status: 403, json: { error: 'forbidden' } });
  }
});

test('an unknown path is 404, a known one with another method 405 with Allow', async () => {
  expect(await caller.get('/v1/nothing')).toMatchObject({ status: 404, json: { error: 'not_found' } });
  expect(await caller.get('/nothing')).toMatchObject({ status: 404, json: { error: 'not_found' } });
  const answer = await caller.call('PATCH', '/v1/batch-jobs');
  expect(answer).toMatchObject({ status: 405, json: { error: 'method_not_allowed' } });
  expect(answer.headers.get('allow')).toContain('POST');
  expect(answer.headers.get('x-request-id')).toBe(answer.json.request_id);
});

test.each([
  ['broken JSON', '{"endpoint":', JSON_TYPE, 400, 'invalid_json'],
  ['JSON that is no object', '[1]', JSON_TYPE, 400, 'invalid_request'],
  ['bytes that are no UTF-8', Uint8Array.of(0x7b, 0xff, 0x7d), JSON_TYPE, 400, 'body_encoding'],
  ['no content type', '{}', {}, 415, 'unsupported_media_type'],
  [
    'another content type',
    'a=b',
    { 'content-type': 'application/x-www-form-urlencoded' },
    415,
    'unsupported_media_type',
  ],
  ['a compressed body', '{}', { ...JSON_TYPE, 'content-encoding': 'gzip' }, 415, 'unsupported_media_type'],
  ['an empty body', '', JSON_TYPE, 400, 'invalid_request'],
  ['a body beyond the limit', ' '.repeat(5 * 1024 * 1024), JSON_TYPE, 413, 'request_too_large'],
])('%s is the caller’s fault and said so', async (_, body, headers, status, error) => {
  const answer = await caller.call('POST', '/v1/batch-jobs', { body, headers });
  expect(answer).toMatchObject({ status, json: { error, request_id: answer.headers.get('x-request-id') } });
});

test.each([
  ['text/plain', 415, 'unsupported_media_type'],
  ['', 415, 'unsupported_media_type'],
])('items with the content type "%s" are refused', async (type, status, error) => {
  const jobId = await caller.draft(0);
  const headers: Record<string, string> = type === '' ? {} : { 'content-type': type };
  const answer = await caller.call('POST', `/v1/batch-jobs/${jobId}/items`, { body: new Uint8Array(2), headers });
  expect(answer).toMatchObject({ status, json: { error } });
});

test('optional bodies may be left out, with a content type or without', async () => {
  const first = await caller.draft(1);
  expect((await caller.call('POST', `/v1/batch-jobs/${first}/cancel`, { headers: JSON_TYPE })).status).toBe(200);
  const second = await caller.draft(1);
  expect((await caller.call('POST', `/v1/batch-jobs/${second}/cancel`)).status).toBe(200);
});

test('faults of the gateway hide their text and bear the request’s id', async () => {
  const broken = createTestApi(db);
  const owner = await broken.caller();
  const jobId = await owner.draft(1);
  broken.workflows.signalCancel = async () => {
    throw new Error('secret detail');
  };
  await db.pool.query(
    "UPDATE batch_jobs SET state = 'queued', submission_no = 1, submitted_at = now() WHERE job_id = (SELECT job_id FROM batch_jobs ORDER BY created_at DESC LIMIT 1)",
  );
  const answer = await owner.post(`/v1/batch-jobs/${jobId}/cancel`);
  expect(answer).toMatchObject({ status: 500, json: { error: 'internal' } });
  expect(answer.text).not.toContain('secret');
});

test('without a database the answer is 503 and says that nothing was done', async () => {
  const pool = { query: async () => Promise.reject(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })) };
  const away = createTestApi({ ...db, pool: pool as unknown as typeof db.pool });
  const response = await away.app.request('/v1/batch-jobs', { headers: { authorization: `Bearer ${caller.key}` } });
  expect(response.status).toBe(503);
  expect(response.headers.get('retry-after')).toBe('5');
  expect(await response.json()).toMatchObject({ error: 'dependency_unavailable' });
});

test('health asks for no key and readiness names what is away', async () => {
  expect(await anonymous('/healthz')).toMatchObject({ json: { status: 'ok' } });
  const ready = await anonymous('/readyz');
  expect(ready).toMatchObject({
    response: { status: 200 },
    json: { status: 'ready', dependencies: { postgres: 'ok', temporal: 'ok' } },
  });
  api.workflows.isReachable = async () => false;
  const notReady = await anonymous('/readyz');
  api.workflows.isReachable = async () => true;
  expect(notReady.response.status).toBe(503);
  expect(notReady.json).toEqual({
    status: 'not_ready',
    dependencies: { postgres: 'ok', temporal: 'unreachable' },
  });
});
