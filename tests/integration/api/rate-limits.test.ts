import pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import { ApiCaller, createTestApi, type TestApi } from '../../harness/api.ts';
import { createTestDatabase, scopedDatabase } from '../../harness/postgres.ts';
import { testLimits } from '../../harness/request-limits.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);

const POLICY = '"requests";q=5;w=60';

function apiWith(settings: Parameters<typeof testLimits>[1]): TestApi {
  return createTestApi(db, { limits: testLimits(scopedDatabase(db), settings) });
}

async function setPolicy(tenantId: string, policy: Record<string, unknown>): Promise<void> {
  await db.pool.query('UPDATE tenants SET policy = $2 WHERE tenant_id = $1', [tenantId, policy]);
}

test('every answer tells what is left, and the one beyond it is refused with limit and reset', async () => {
  const caller = await apiWith({ requestsPerMinute: 5 }).caller();
  const answers = [];
  for (let call = 0; call < 6; call += 1) answers.push(await caller.get('/v1/batch-jobs'));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429]);
  expect(answers.map(({ headers }) => headers.get('ratelimit-policy'))).toEqual(Array(6).fill(POLICY));
  expect(answers.map(({ headers }) => /^"requests";r=(\d);t=\d\d?$/.exec(headers.get('ratelimit') ?? '')?.[1])).toEqual(
    ['4', '3', '2', '1', '0', '0'],
  );
  const refused = answers.at(-1);
  expect(refused?.json).toMatchObject({ error: 'rate_limited', request_id: expect.stringMatching(/^req_/) });
  expect(refused?.json.message).toMatch(/5 units of requests in a minute.* again in \d\d? seconds/);
  expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(Number(refused?.headers.get('retry-after'))).toBeLessThanOrEqual(60);
});

test('a write takes two units, and a call that brings items five', async () => {
  const caller = await apiWith({ requestsPerMinute: 100 }).caller();
  const left = (answer: { headers: Headers }) => /r=(\d+)/.exec(answer.headers.get('ratelimit') ?? '')?.[1];
  const created = await caller.post('/v1/batch-jobs', { endpoint: 'chat.completions', model: 'openai/gpt-4o-mini' });
  expect(left(created)).toBe('98');
  const items = await caller.post(`/v1/batch-jobs/${created.json.job_id}/items`, { items: [] });
  expect(left(items)).toBe('93');
  expect(left(await caller.get('/v1/nothing-here'))).toBe('92');
});

test('several api processes count together', async () => {
  const [one, two] = [apiWith({ requestsPerMinute: 10 }), apiWith({ requestsPerMinute: 10 })];
  const caller = await one.caller();
  const same = new ApiCaller(two.app, caller.key);
  // So that no count waits for a connection to be made and to learn the tables.
  const warming = await two.caller();
  await Promise.all(Array.from({ length: 10 }, () => warming.get('/v1/batch-jobs')));
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, index) => (index % 2 === 0 ? caller : same).get('/v1/batch-jobs')),
  );
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(10);
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(20);
});

test('the policy of a tenant comes before the setting', async () => {
  const api = apiWith({ requestsPerMinute: 1_000 });
  const tenantId = await api.tenant();
  await setPolicy(tenantId, { requests_per_minute: 1 });
  const caller = await api.caller('tenant_admin', { tenantId });
  expect((await caller.get('/v1/batch-jobs')).headers.get('ratelimit-policy')).toBe('"requests";q=1;w=60');
  expect((await caller.get('/v1/batch-jobs')).status).toBe(429);
  const other = await api.caller('tenant_admin', { tenantId });
  expect((await other.get('/v1/batch-jobs')).status).toBe(200);
});

test('a key that is refused asks nothing of the database, and does not hold up another', async () => {
  const api = apiWith({ requestsPerMinute: 3 });
  const [loud, quiet] = [await api.caller(), await api.caller()];
  for (let call = 0; call < 4; call += 1) await loud.get('/v1/batch-jobs');
  const before = await readUse();
  const refused = Promise.all(Array.from({ length: 500 }, () => loud.get('/v1/batch-jobs')));
  const answered = await Promise.all(Array.from({ length: 3 }, () => quiet.get('/v1/batch-jobs')));
  expect(answered.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(new Set((await refused).map(({ status }) => status))).toEqual(new Set([429]));
  expect(await readUse()).toBe(before + 3);
});

test('bad keys are counted against their address, and then only keys that were good lately are looked up', async () => {
  const api = apiWith({ refusedKeysPerMinute: 3, trustedProxies: 1 });
  const good = await api.caller();
  const from = (address: string) => ({ 'x-forwarded-for': `10.0.0.1, ${address}` });
  expect((await good.get('/v1/batch-jobs', from('192.0.2.1'))).status).toBe(200);
  const guess = new ApiCaller(api.app, `bg_tenant_${'x'.repeat(43)}`);
  const statuses = [];
  for (let call = 0; call < 5; call += 1) statuses.push((await guess.get('/v1/batch-jobs', from('192.0.2.1'))).status);
  expect(statuses).toEqual([401, 401, 401, 429, 429]);
  const refused = await guess.get('/v1/batch-jobs', from('192.0.2.1'));
  expect(refused.json).toMatchObject({ error: 'rate_limited' });
  expect(refused.json.message).toContain('more than 3 calls without a valid key');
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await good.get('/v1/batch-jobs', from('192.0.2.1'))).status).toBe(200);
  expect((await guess.get('/v1/batch-jobs', from('192.0.2.2'))).status).toBe(401);
});

test('X-Forwarded-For is not believed unless told so', async () => {
  const api = apiWith({ refusedKeysPerMinute: 2 });
  const guess = new ApiCaller(api.app, 'nothing');
  const statuses = [];
  for (let call = 0; call < 3; call += 1) {
    statuses.push((await guess.get('/v1/batch-jobs', { 'x-forwarded-for': `198.51.100.${call}` })).status);
  }
  expect(statuses).toEqual([401, 401, 429]);
});

test('while the database cannot count, each process counts for itself', async () => {
  const pool = new pg.Pool({ host: '127.0.0.1', port: 1, connectionTimeoutMillis: 1_000 });
  const told: unknown[] = [];
  const api = createTestApi(db, {
    limits: testLimits({ pool }, { requestsPerMinute: 3 }, (error) => told.push(error)),
  });
  const caller = await api.caller();
  const statuses = [];
  for (let call = 0; call < 5; call += 1) statuses.push((await caller.get('/v1/batch-jobs')).status);
  expect(statuses).toEqual([200, 200, 200, 429, 429]);
  expect(told.length).toBeGreaterThan(0);
  await pool.end();
});

/** All that was ever counted of keys. */
async function readUse(): Promise<number> {
  const { rows } = await db.pool.query("SELECT sum(points)::int AS points FROM rate_limits WHERE key LIKE 'key:%'");
  return rows[0].points;
}
