import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../../db/ids.ts';
import { type ApiCaller, createTestApi } from '../../harness/api.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { endedJob } from '../retry/failed-job.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);
const api = createTestApi(db);
const URL = 'http://127.0.0.1:1/hook';
const WEBHOOKS = '/v1/webhooks';

let tenantId: string;
let admin: ApiCaller;
beforeAll(async () => {
  tenantId = await api.tenant();
  admin = await api.caller('tenant_admin', { tenantId });
  await db.pool.query(
    "INSERT INTO projects (tenant_id, project_id, name) VALUES ($1, 'web', 'Web'), ($1, 'app', 'App')",
    [tenantId],
  );
  await db.pool.query("INSERT INTO customers (tenant_id, customer_id, name) VALUES ($1, 'one', 'One')", [tenantId]);
});

async function endpoint(caller = admin, more: Record<string, unknown> = {}): Promise<string> {
  const { status, json } = await caller.post(WEBHOOKS, { url: URL, ...more });
  expect(status).toBe(201);
  return json.endpoint_id;
}

async function delivery(endpointId: string): Promise<string> {
  const { status, json } = await admin.post(`${WEBHOOKS}/${endpointId}/test`);
  expect(status).toBe(202);
  return json.delivery_id;
}

async function auditOf(subject: string): Promise<string[]> {
  const { rows } = await db.pool.query('SELECT act FROM audit_log WHERE subject = $1 ORDER BY entry_no', [subject]);
  return rows.map(({ act }) => act);
}

test('an endpoint is made, shown without its secret, changed and deleted', async () => {
  const wish = { url: URL, event_types: ['batch_job.failed'], description: 'ops', give_up_after_seconds: 3_600 };
  const made = await admin.post(WEBHOOKS, wish);
  expect(made).toMatchObject({
    status: 201,
    json: { ...wish, tenant_id: tenantId, project_id: null, disabled: false },
  });
  expect(made.json.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  const path = `${WEBHOOKS}/${made.json.endpoint_id}`;
  const { secret, ...shown } = made.json;
  const read = await admin.get(path);
  expect(read.json).toEqual(shown);
  const changed = await admin.call('PATCH', path, { json: { event_types: null, disabled: true, description: null } });
  expect(changed.json).toMatchObject({
    event_types: null,
    description: null,
    give_up_after_seconds: 3_600,
    disabled: true,
    disabled_reason: 'request',
  });
  expect((await admin.post(`${path}/test`)).json).toMatchObject({ error: 'conflict' });
  const enabled = await admin.call('PATCH', path, { json: { disabled: false } });
  expect(enabled.json).toMatchObject({ disabled: false, disabled_at: null, disabled_reason: null });
  const rotated = await admin.post(`${path}/rotate-secret`, { overlap_seconds: 60 });
  expect(rotated.json.secret).toMatch(/^whsec_/);
  expect(rotated.json.secret).not.toBe(secret);
  expect((await admin.get(path)).json.previous_secret_until).toBe(rotated.json.previous_secret_until);
  expect((await admin.call('DELETE', path)).status).toBe(204);
  expect((await admin.get(path)).status).toBe(404);
  expect(await auditOf(made.json.endpoint_id)).toEqual([
    'webhook_endpoint.created',
    'webhook_endpoint.changed',
    'webhook_endpoint.changed',
    'webhook_endpoint.secret_rotated',
    'webhook_endpoint.deleted',
  ]);
});

test('a secret is told once: the repetition of a call has none, and nothing stored has it', async () => {
  const headers = { 'idempotency-key': 'once' };
  const first = await admin.post(WEBHOOKS, { url: URL }, headers);
  const again = await admin.post(WEBHOOKS, { url: URL }, headers);
  expect(again.json).toEqual({ ...first.json, secret: null });
  const { rows } = await db.pool.query('SELECT response_body FROM idempotency_keys');
  const { rows: audited } = await db.pool.query('SELECT details::text FROM audit_log');
  expect(JSON.stringify([rows, audited])).not.toContain(first.json.secret);
});

test.each([
  ['plain http', 'http://hooks.example/', 'must be an https URL'],
  ['another scheme', 'ftp://hooks.example/', 'must be an https URL'],
  ['a user name', 'https://me:you@hooks.example/', 'must not hold a user name or password'],
  ['the loopback', 'https://127.1.2.3/', 'must not lead to an address that is not public'],
  ['a name of the loopback', 'https://localhost/', 'must not lead to an address that is not public'],
  ['cloud metadata', 'https://169.254.169.254/latest', 'must not lead to an address that is not public'],
  ['a number that is an address', 'https://2130706434/', 'must not lead to an address that is not public'],
  ['IPv6 that holds IPv4', 'https://[::ffff:10.0.0.1]/', 'must not lead to an address that is not public'],
])('a URL with %s is refused, made or changed', async (_, url, message) => {
  const id = await endpoint();
  const told = {
    status: 400,
    json: { error: 'invalid_request', field: 'url', message: expect.stringContaining(message) },
  };
  expect(await admin.post(WEBHOOKS, { url })).toMatchObject(told);
  expect(await admin.call('PATCH', `${WEBHOOKS}/${id}`, { json: { url } })).toMatchObject(told);
});

test.each([
  [{ url: 'nonsense' }, 'url'],
  [{ url: URL, event_types: [] }, 'event_types'],
  [{ url: URL, event_types: ['batch_job.done'] }, 'event_types[0]'],
  [{ url: URL, give_up_after_seconds: 1 }, 'give_up_after_seconds'],
  [{ url: URL, give_up_after_seconds: 10_000_000 }, 'give_up_after_seconds'],
  [{ url: URL, secret: 'mine' }, 'secret'],
])('%j is refused by name', async (body, field) => {
  expect(await admin.post(WEBHOOKS, body)).toMatchObject({ status: 400, json: { error: 'invalid_request', field } });
});

test('endpoints and deliveries page, newest first, and deliveries are filtered', async () => {
  const caller = await api.caller();
  const ids = [await endpoint(caller), await endpoint(caller), await endpoint(caller)];
  const first = await caller.get(`${WEBHOOKS}?limit=2`);
  const rest = await caller.get(`${WEBHOOKS}?limit=2&cursor=${first.json.next_cursor}`);
  const seen = [...first.json.data, ...rest.json.data].map((row: { endpoint_id: string }) => row.endpoint_id);
  expect(seen.toSorted()).toEqual(ids.toSorted());
  expect(rest.json.next_cursor).toBeNull();
  const made = [];
  for (const id of ids) made.push((await caller.post(`${WEBHOOKS}/${id}/test`)).json.delivery_id);
  const page = await caller.get(`${WEBHOOKS}/deliveries?limit=2`);
  const next = await caller.get(`${WEBHOOKS}/deliveries?limit=2&cursor=${page.json.next_cursor}`);
  expect([...page.json.data, ...next.json.data]).toHaveLength(3);
  const count = async (query: string) => (await caller.get(`${WEBHOOKS}/deliveries?${query}`)).json.data.length;
  expect(await count(`endpoint_id=${ids[0]}`)).toBe(1);
  expect(await count('status=pending')).toBe(3);
  expect(await count('status=delivered')).toBe(0);
  expect(await count('event_type=webhook.test')).toBe(3);
  expect(await count(`job_id=${newId('job')}`)).toBe(0);
  expect((await caller.get(`${WEBHOOKS}/deliveries?event_type=%00`)).status).toBe(400);
  const { json } = await caller.get(`${WEBHOOKS}/deliveries/${made[0]}`);
  expect(json).toMatchObject({ status: 'pending', attempts: 0, replays: 0, tried: [], event_type: 'webhook.test' });
});

test('a delivery that is over is replayed once for a key; one under way, or without its endpoint, is not', async () => {
  const endpointId = await endpoint();
  const id = await delivery(endpointId);
  const path = `${WEBHOOKS}/deliveries/${id}`;
  expect(await admin.post(`${path}/replay`)).toMatchObject({ status: 409, json: { error: 'conflict' } });
  const end = "UPDATE webhook_deliveries SET state = 'abandoned', ended_at = now() WHERE delivery_id = $1";
  await db.pool.query(end, [id]);
  const headers = { 'idempotency-key': 'replay' };
  const twice = [await admin.post(`${path}/replay`, {}, headers), await admin.post(`${path}/replay`, {}, headers)];
  for (const answer of twice) expect(answer).toMatchObject({ status: 202, json: { status: 'pending', replays: 1 } });
  expect(await auditOf(id)).toEqual(['webhook_delivery.replayed']);
  await db.pool.query(end, [id]);
  await admin.call('DELETE', `${WEBHOOKS}/${endpointId}`);
  expect(await admin.post(`${path}/replay`)).toMatchObject({
    status: 409,
    json: { message: 'Its endpoint was deleted.' },
  });
});

test.each([
  ['http://hooks.example/', 'must be an https URL'],
  ['https://10.0.0.1/', 'must not lead to an address that is not public'],
])('a job or schedule with a webhook to %s is refused', async (url, message) => {
  const job = { endpoint: 'chat.completions', model: 'openai/gpt-4o-mini', webhook: { url } };
  const told = { status: 400, json: { error: 'invalid_request', message } };
  expect(await admin.post('/v1/batch-jobs', job)).toMatchObject(told);
  const schedule = {
    name: 'nightly',
    schedule: { every_seconds: 3_600 },
    items: { manifest_of_job: newId('job') },
    job,
  };
  expect(await admin.post('/v1/batch-schedules', schedule)).toMatchObject(told);
});

test('a tenant has at most fifty endpoints', async () => {
  const caller = await api.caller();
  for (let made = 0; made < 50; made += 1) await endpoint(caller);
  expect(await caller.post(WEBHOOKS, { url: URL })).toMatchObject({ status: 409, json: { error: 'conflict' } });
});

test('the secret for webhooks of jobs is one for each kind of key, told of but not told', async () => {
  const caller = await api.caller('tenant_admin', { tenantId: await api.tenant() });
  const path = `${WEBHOOKS}/job-secret`;
  expect((await caller.get(path)).json).toMatchObject({ exists: false, created_at: null });
  const first = await caller.post(`${path}/rotate`, {});
  expect(first.json).toEqual({ secret: expect.stringMatching(/^whsec_/), previous_secret_until: null });
  expect((await caller.get(path)).text).not.toContain(first.json.secret);
  const second = await caller.post(`${path}/rotate`, { overlap_seconds: 60 });
  expect(second.json.secret).not.toBe(first.json.secret);
  expect((await caller.get(path)).json.previous_secret_until).toBe(second.json.previous_secret_until);
  const own = await api.caller('customer', { tenantId, customerId: 'one' });
  expect((await own.get(path)).json.exists).toBe(false);
  expect((await own.post(`${path}/rotate`, {})).status).toBe(200);
});

test('a retry is told of where its original is', async () => {
  const caller = await api.caller();
  await caller.post(`${WEBHOOKS}/job-secret/rotate`, {});
  const jobId = await endedJob(db, caller, [null, 'provider_error'], { webhook: { url: URL } });
  const { json } = await caller.post(`/v1/batch-jobs/${jobId}/retry`, {});
  const { rows } = await db.pool.query('SELECT url, secret_id FROM direct_webhooks WHERE subject_id = ANY($1)', [
    [jobId, json.job_id],
  ]);
  expect(rows).toHaveLength(2);
  expect(rows[1]).toEqual(rows[0]);
});

test('a draft that vanishes leaves no webhook', async () => {
  const caller = await api.caller();
  await caller.post(`${WEBHOOKS}/job-secret/rotate`, {});
  const jobId = await caller.draft(1, { webhook: { url: URL } });
  const { rows } = await db.pool.query('SELECT url, event_types FROM direct_webhooks WHERE subject_id = $1', [jobId]);
  expect(rows).toEqual([{ url: URL, event_types: null }]);
  expect((await caller.call('DELETE', `/v1/batch-jobs/${jobId}`)).status).toBe(204);
  const left = await db.pool.query('SELECT 1 FROM direct_webhooks WHERE subject_id = $1', [jobId]);
  expect(left.rowCount).toBe(0);
});

describe('isolation', () => {
  const by = (caller: ApiCaller, method: string, path: string) =>
    caller.call(method, path, method === 'PATCH' || path.endsWith('rotate-secret') ? { json: {} } : {});
  const blind = ({ status, text }: { status: number; text: string }) => [status, text.replace(/"req_[0-9a-z]+"/, '""')];

  test.each([
    ['GET', '{endpoint}'],
    ['PATCH', '{endpoint}'],
    ['DELETE', '{endpoint}'],
    ['POST', '{endpoint}/rotate-secret'],
    ['POST', '{endpoint}/test'],
    ['GET', 'deliveries/{delivery}'],
    ['POST', 'deliveries/{delivery}/replay'],
  ])('%s %s of somebody else answers as one that never was', async (method, path) => {
    const id = await endpoint(admin, { project_id: 'web' });
    const ids = { endpoint: id, delivery: await delivery(id) };
    const fill = (named: typeof ids) =>
      `${WEBHOOKS}/${path.replace('{endpoint}', named.endpoint).replace('{delivery}', named.delivery)}`;
    const unknown = { endpoint: newId('webhookEndpoint'), delivery: newId('webhookDelivery') };
    for (const stranger of [await api.caller(), await api.caller('project', { tenantId, projectId: 'app' })]) {
      const answer = await by(stranger, method, fill(unknown));
      expect(answer.status).toBe(404);
      for (const named of [ids, { endpoint: 'x', delivery: '%00' }])
        expect(blind(await by(stranger, method, fill(named)))).toEqual(blind(answer));
    }
    expect((await admin.get(`${WEBHOOKS}/${id}`)).json.disabled).toBe(false);
  });

  test('a project key sees and makes endpoints of its project alone', async () => {
    const web = await api.caller('project', { tenantId, projectId: 'web' });
    const id = await endpoint(web);
    expect((await web.get(`${WEBHOOKS}/${id}`)).json.project_id).toBe('web');
    expect(await web.post(WEBHOOKS, { url: URL, project_id: 'app' })).toMatchObject({ status: 404 });
    expect(await admin.post(WEBHOOKS, { url: URL, project_id: 'none' })).toMatchObject({ status: 404 });
    const whole = await endpoint();
    await delivery(whole);
    const { data } = (await web.get(WEBHOOKS)).json;
    expect(data.every((row: { project_id: string }) => row.project_id === 'web')).toBe(true);
    expect((await web.get(`${WEBHOOKS}/deliveries?endpoint_id=${whole}`)).json.data).toEqual([]);
  });

  test('a customer key has no endpoints, and sees the deliveries of its own jobs’ webhooks alone', async () => {
    const one = await api.caller('customer', { tenantId, customerId: 'one' });
    const id = await endpoint();
    for (const [method, path] of [
      ['GET', ''],
      ['POST', ''],
      ['GET', `/${id}`],
      ['POST', `/${id}/rotate-secret`],
    ] as const)
      expect((await one.call(method, `${WEBHOOKS}${path}`)).status).toBe(403);
    const narrowed = await api.caller('tenant_admin', { tenantId, customerId: 'one' });
    expect((await narrowed.get(WEBHOOKS)).status).toBe(403);
    await admin.post(`${WEBHOOKS}/job-secret/rotate`, {});
    await one.post(`${WEBHOOKS}/job-secret/rotate`, {});
    const theirs = await one.submitted(1, { webhook: { url: URL } });
    await admin.submitted(1, { customer_id: 'one', webhook: { url: URL } });
    const { data } = (await one.get(`${WEBHOOKS}/deliveries`)).json;
    expect(data.length).toBeGreaterThan(0);
    for (const row of data) expect(row).toMatchObject({ job_id: theirs, endpoint_id: null });
  });
});
