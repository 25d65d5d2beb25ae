import { afterAll, expect, test } from 'vitest';
import { createTestApi } from '../../harness/api.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { endedLedgerJob } from '../ledger/ledger-job.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);
const api = createTestApi(db);
const admin = await api.caller('gateway_admin');

test('an admin sets the overage policy of a tenant, which others then see', async () => {
  const path = `/v1/admin/tenants/${await api.tenant()}`;
  expect((await admin.get(path)).json.overage_policy).toBe('charge');
  const changed = await admin.call('PATCH', path, { json: { overage_policy: 'cap' } });
  expect([changed.status, changed.json.overage_policy]).toEqual([200, 'cap']);
  expect((await admin.call('PATCH', path, { json: {} })).json.overage_policy).toBe('cap');
  expect((await admin.call('PATCH', path, { json: { overage_policy: 'free' } })).status).toBe(400);
});

test('a job that was capped says so', async () => {
  const of = await endedLedgerJob(db, { policy: 'cap' }, [{ input: 1_000, output: 50_000 }]);
  const owner = await api.caller('tenant_admin', { tenantId: of.tenant.tenantId });
  const { cost, overage } = (await owner.get(`/v1/batch-jobs/${of.job.jobId}`)).json;
  expect(cost.settled).toBe(cost.reserved);
  expect(overage).toMatchObject({ policy: 'cap', outcome: 'absorbed' });
  expect(Number(overage.amount)).toBeGreaterThan(0.01);
});

test('after an overrun a submit is refused with what lifts it, and an admin lifts it', async () => {
  const of = await endedLedgerJob(db, { policy: 'suspend' }, [{ input: 1_000, output: 50_000 }]);
  const { tenantId } = of.tenant;
  const owner = await api.caller('tenant_admin', { tenantId });
  const jobId = await owner.draft(1);
  const path = `/v1/admin/tenants/${tenantId}/suspensions`;
  const listed = (await admin.get(path)).json.data;
  expect(listed).toEqual([
    expect.objectContaining({ scope: 'tenant', scope_id: tenantId, job_id: of.job.jobId, lifted_at: null }),
  ]);
  const [{ suspension_id: id }] = listed;
  const validation = await owner.post(`/v1/batch-jobs/${jobId}/validate`);
  expect(validation.json).toMatchObject({ ok: false, findings: [{ error: 'spending_suspended' }] });
  const refused = await owner.post(`/v1/batch-jobs/${jobId}/submit`);
  expect([refused.status, refused.json.error]).toEqual([403, 'spending_suspended']);
  expect(refused.json.message).toContain(id);
  const lift = () => admin.post(`${path}/${id}/lift`, { reason: 'limit raised' });
  const lifted = await lift();
  expect(lifted.json).toMatchObject({ suspension_id: id, lift_reason: 'limit raised' });
  expect((await lift()).text).toBe(lifted.text);
  expect((await admin.get(path)).json.data).toEqual([]);
  expect((await admin.get(`${path}?lifted=include`)).json.data).toHaveLength(1);
  expect((await owner.post(`/v1/batch-jobs/${jobId}/submit`)).status).toBe(202);
});

test('a suspension is lifted by an admin alone, with a reason, and only where it is', async () => {
  const tenantId = await api.tenant();
  const path = `/v1/admin/tenants/${tenantId}/suspensions`;
  const owner = await api.caller('tenant_admin', { tenantId });
  expect((await owner.get(path)).status).toBe(403);
  expect((await admin.post(`${path}/susp_x/lift`, { reason: 'r' })).status).toBe(404);
  expect((await admin.post(`${path}/susp_x/lift`, {})).status).toBe(400);
  expect((await admin.get('/v1/admin/tenants/nobody/suspensions')).status).toBe(404);
});
