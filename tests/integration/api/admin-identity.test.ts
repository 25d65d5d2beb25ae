import { afterAll, describe, expect, test } from 'vitest';
import { ApiCaller, createTestApi } from '../../harness/api.ts';
import { createTestDatabase } from '../../harness/postgres.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);
const api = createTestApi(db);
const admin = await api.caller('gateway_admin');
const TENANTS = '/v1/admin/tenants';

async function auditOf(tenantId: string): Promise<[string, string | null][]> {
  const { json } = await admin.get(`/v1/admin/audit-log?tenant_id=${tenantId}`);
  return json.data.map(({ act, subject }: { act: string; subject: string | null }) => [act, subject]).reverse();
}

describe('tenants', () => {
  test('are made under an id of their owner’s, once, and listed by id', async () => {
    const made = await admin.post(TENANTS, { tenant_id: 'tenant_acme', name: 'Acme', time_zone: 'Europe/Berlin' });
    expect(made).toMatchObject({
      status: 201,
      json: { tenant_id: 'tenant_acme', name: 'Acme', currency: 'USD', time_zone: 'Europe/Berlin', suspended_at: null },
    });
    const again = await admin.post(TENANTS, { tenant_id: 'tenant_acme', name: 'Other' });
    expect(again).toMatchObject({ status: 409, json: { error: 'conflict', field: 'tenant_id' } });
    const { json } = await admin.post(TENANTS, { name: 'Without id', currency: 'EUR' });
    expect(json.tenant_id).toMatch(/^tenant_[0-9a-z]{26}$/);
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page = await admin.get(`${TENANTS}?limit=1${cursor === '' ? '' : `&cursor=${cursor}`}`);
      seen.push(...page.json.data.map(({ tenant_id: id }: { tenant_id: string }) => id));
      cursor = page.json.next_cursor;
    }
    expect(seen).toEqual(seen.toSorted());
    expect(seen).toEqual(expect.arrayContaining(['tenant_acme', json.tenant_id]));
    expect(await auditOf('tenant_acme')).toEqual([['tenant.created', 'tenant_acme']]);
  });

  test.each(['', '-a', '.', 'a b', 'a/b', 'ü', 'a'.repeat(65)])(
    'refuse the id %j, naming what is taken',
    async (id) => {
      const answer = await admin.post(TENANTS, { tenant_id: id, name: 'x' });
      expect(answer).toMatchObject({ status: 400, json: { error: 'invalid_request', field: 'tenant_id' } });
      expect(answer.json.message).toContain('1 to 64 letters');
    },
  );

  test('refuse what is no time zone, and are renamed', async () => {
    const wrong = await admin.post(TENANTS, { name: 'x', time_zone: 'Berlin' });
    expect(wrong).toMatchObject({ status: 400, json: { field: 'time_zone' } });
    await admin.post(TENANTS, { tenant_id: 'renamed', name: 'Before' });
    expect((await admin.call('PATCH', `${TENANTS}/renamed`, { json: { name: 'After' } })).json.name).toBe('After');
    expect(await auditOf('renamed')).toEqual([
      ['tenant.created', 'renamed'],
      ['tenant.changed', 'renamed'],
    ]);
  });

  test('are made once for an Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'one' };
    const [first, second] = [1, 2].map(() => admin.post(TENANTS, { name: 'Once' }, headers));
    expect((await first)?.text).toBe((await second)?.text);
  });
});

describe.each(['project', 'customer'])('%ss', (kind) => {
  test('are made, listed, read and renamed in their tenant alone', async () => {
    const [own, other] = [await api.tenant(), await api.tenant()];
    const path = `${TENANTS}/${own}/${kind}s`;
    const made = await admin.post(path, { [`${kind}_id`]: 'one', name: 'One' });
    expect(made).toMatchObject({ status: 201, json: { [`${kind}_id`]: 'one', tenant_id: own, name: 'One' } });
    const taken = await admin.post(path, { [`${kind}_id`]: 'one', name: 'Two' });
    expect(taken).toMatchObject({ status: 409, json: { error: 'conflict', field: `${kind}_id` } });
    expect((await admin.post(path, { name: 'Made' })).json[`${kind}_id`]).toMatch(/^(proj|cust)_[0-9a-z]{26}$/);
    expect((await admin.get(path)).json.data).toHaveLength(2);
    expect((await admin.get(`${TENANTS}/${other}/${kind}s`)).json.data).toEqual([]);
    const renamed = await admin.call('PATCH', `${path}/one`, { json: { name: 'Uno' } });
    expect(renamed).toMatchObject({ status: 200, json: { name: 'Uno' } });
    expect((await admin.get(`${path}/one`)).json).toEqual(renamed.json);
    for (const missing of [`${TENANTS}/${other}/${kind}s/one`, `${path}/none`, `${path}/%00`]) {
      const { status, json } = await admin.get(missing);
      expect([status, json.message]).toEqual([404, `The tenant has no such ${kind}.`]);
      expect((await admin.call('PATCH', missing, { json: { name: 'x' } })).status).toBe(404);
    }
    expect((await auditOf(own)).map(([act]) => act)).toEqual([`${kind}.created`, `${kind}.created`, `${kind}.changed`]);
  });
});

describe('policy', () => {
  test('shows the defaults, changes what is given, and takes null where it means something', async () => {
    const tenantId = await api.tenant();
    const path = `${TENANTS}/${tenantId}/policy`;
    const before = await admin.get(path);
    expect(before.json.policy).toEqual(before.json.defaults);
    expect(before.json.policy).toMatchObject({ storage: 'raw', content_retention_ms: 2_592_000_000, max_drafts: 1000 });
    const change = { storage: 'hashes', content_retention_ms: null, max_items_per_shard: 7, task_concurrency: 3 };
    expect((await admin.call('PATCH', path, { json: change })).json.policy).toEqual({
      ...before.json.policy,
      ...change,
    });
    expect((await admin.get(`${TENANTS}/${tenantId}`)).json.max_items_per_shard).toBe(7);
    await admin.call('PATCH', `${TENANTS}/${tenantId}`, { json: { max_items_per_shard: null } });
    expect((await admin.get(path)).json.policy).toMatchObject({ max_items_per_shard: null, storage: 'hashes' });
    const { json } = await admin.get(`/v1/admin/audit-log?tenant_id=${tenantId}&act=policy.changed`);
    expect(json.data[0].details.fields.toSorted()).toEqual(Object.keys(change).toSorted());
  });

  test.each([
    ['storage', 'everything'],
    ['storage', null],
    ['read_window_ms', 59_999],
    ['content_retention_ms', 1],
    ['credential_wait_ms', 0],
    ['max_items_per_shard', 0],
    ['task_concurrency', -1],
    ['max_drafts', 1.5],
    ['max_open_items', 1_000_000_001],
    ['max_stored_bytes', -1],
    ['expose_provider_errors', 'yes'],
  ])('refuses %s of %j by name', async (member, value) => {
    const path = `${TENANTS}/${await api.tenant()}/policy`;
    const answer = await admin.call('PATCH', path, { json: { [member]: value } });
    expect(answer).toMatchObject({ status: 400, json: { error: 'invalid_request', field: member } });
  });
});

describe('the audit log', () => {
  test('shows a tenant its own entries, without who of the gateway did what and how', async () => {
    const [own, other] = [await api.tenant(), await api.tenant()];
    const caller = await api.caller('tenant_admin', { tenantId: own });
    await admin.call('PATCH', `${TENANTS}/${own}`, { json: { name: 'Named' } });
    await admin.call('PATCH', `${TENANTS}/${other}`, { json: { name: 'Named' } });
    const jobId = await caller.submitted(1);
    const operator = await api.caller('operator');
    await operator.post(`/v1/operator/jobs/${jobId}/cancel`, { reason: 'a reason of ours' });
    const { json, text } = await caller.get('/v1/audit-log');
    expect(
      json.data.map(({ act, actor, subject, details }: Record<string, unknown>) => [
        act,
        actor === 'gateway',
        subject,
        details,
      ]),
    ).toEqual([
      ['operator.cancel', true, jobId, {}],
      ['job.submitted', false, jobId, { items: 1 }],
      ['tenant.changed', true, own, {}],
    ]);
    expect(text).not.toContain('a reason of ours');
    expect(text).not.toContain(other);
    const whole = await admin.get(`/v1/admin/audit-log?tenant_id=${own}`);
    expect(whole.json.data[2].details).toEqual({ fields: ['name'] });
    const byGateway = await caller.get('/v1/audit-log?actor=gateway');
    expect(byGateway.json.data).toHaveLength(2);
    const probed = await caller.get(`/v1/audit-log?actor=${whole.json.data[2].actor}`);
    expect(probed.json.data).toEqual([]);
  });

  test('is paged, filtered, and cannot be changed', async () => {
    const tenantId = await api.tenant();
    const caller = await api.caller('tenant_admin', { tenantId });
    for (let count = 0; count < 3; count += 1) await caller.call('DELETE', `/v1/batch-jobs/${await caller.draft(0)}`);
    const first = await caller.get('/v1/audit-log?limit=2&act=job.deleted');
    const second = await caller.get(`/v1/audit-log?limit=2&act=job.deleted&cursor=${first.json.next_cursor}`);
    expect([first.json.data.length, second.json.data.length, second.json.next_cursor]).toEqual([2, 1, null]);
    const [entry] = first.json.data;
    expect((await caller.get(`/v1/audit-log?subject=${entry.subject}`)).json.data).toEqual([entry]);
    expect((await caller.get(`/v1/audit-log?to=${entry.at}`)).json.data.length).toBeLessThan(3);
    expect((await caller.get('/v1/audit-log?act=nothing')).status).toBe(400);
    await expect(db.pool.query('DELETE FROM audit_log')).rejects.toThrow();
    await expect(db.pool.query("UPDATE audit_log SET actor = 'x'")).rejects.toThrow();
  });

  test('tells of what tenants do, once, and not of what was refused', async () => {
    const tenantId = await api.tenant('0.00');
    const caller = await api.caller('tenant_admin', { tenantId });
    const refused = await caller.draft(1);
    expect((await caller.post(`/v1/batch-jobs/${refused}/submit`)).status).toBe(402);
    await caller.post(`/v1/batch-jobs/${refused}/cancel`);
    await caller.post(`/v1/batch-jobs/${refused}/cancel`);
    await caller.get('/v1/usage?format=csv');
    await caller.get('/v1/usage?format=csv&group_by=day');
    await caller.get(`/v1/batch-jobs/${refused}/usage?format=ndjson`);
    await caller.get(`/v1/batch-jobs/${refused}/usage`);
    await caller.call('DELETE', `/v1/batch-jobs/${refused}`);
    await caller.call('DELETE', `/v1/batch-jobs/${refused}`);
    const { json } = await caller.get('/v1/audit-log');
    expect(json.data.map(({ act }: { act: string }) => act).reverse()).toEqual([
      ...['job.cancelled', 'usage.exported', 'usage.exported', 'usage.exported', 'job.deleted'],
    ]);
  });
});

test('the submitter is on record, not the key that made the draft', async () => {
  const tenantId = await api.tenant();
  const maker = await api.caller('tenant_admin', { tenantId });
  const made = await admin.post(`${TENANTS}/${tenantId}/keys`, { role: 'tenant_admin', name: 'submits' });
  const jobId = await maker.draft(1);
  await new ApiCaller(api.app, made.json.key).post(`/v1/batch-jobs/${jobId}/submit`);
  const { json } = await admin.get(`/v1/admin/audit-log?act=job.submitted&subject=${jobId}`);
  expect(json.data.map(({ actor }: { actor: string }) => actor)).toEqual([made.json.key_id]);
});
