import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { createMaintenanceActivities } from '../../../activities/maintenance.ts';
import { createFolderStore } from '../../../artifacts/folder-store.ts';
import { type ArtifactStore, ArtifactStoreError } from '../../../artifacts/store.ts';
import { newId } from '../../../db/ids.ts';
import { markContentDeleted } from '../../../db/job-deletion.ts';
import { runActivity, testDependencies } from '../../harness/activities.ts';
import { createTestApi } from '../../harness/api.ts';
import { refusal } from '../../harness/fake-provider.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { ReplyProvider } from '../../harness/reply-provider.ts';
import { type EndedJob, type EndedJobOptions, endJob, startJob } from './ended-job.ts';

const { db, drop } = await createTestDatabase();
const folder = mkdtempSync(path.join(tmpdir(), 'batchgate-retained-'));
afterAll(async () => {
  await drop();
  rmSync(folder, { recursive: true });
});

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const store = createFolderStore(folder);
const api = createTestApi(db, { artifacts: store });

let provider: ReplyProvider;
beforeEach(async () => {
  provider = new ReplyProvider();
  // Other tests' jobs are none of this one's.
  await db.pool.query(
    'UPDATE batch_jobs SET provider_files_due_at = NULL, removal_due_at = NULL, content_retention_ms = NULL',
  );
});

const newJob = (options: EndedJobOptions = {}) =>
  endJob(db, provider, 'raw', { artifacts: store, retentionMs: 30 * DAY_MS, ...options });

async function tidy(at: Date, artifacts: ArtifactStore | null = store): Promise<void> {
  const { tidyTables } = createMaintenanceActivities(testDependencies(db, { provider, artifacts, now: () => at }));
  await runActivity(async (_: null) => tidyTables(), null);
}

async function endOf({ uuid }: EndedJob): Promise<number> {
  const { rows } = await db.pool.query<{ at: Date }>('SELECT completed_at AS at FROM batch_jobs WHERE job_id = $1', [
    uuid,
  ]);
  return rows[0]?.at.getTime() ?? Number.NaN;
}

/** What the gateway has of the content of a job. */
async function contentOf({ uuid, jobId }: EndedJob) {
  const count = async (sql: string) => (await db.pool.query(sql, [uuid])).rowCount;
  return {
    requests: await count('SELECT 1 FROM item_requests WHERE job_id = $1'),
    results: await count('SELECT 1 FROM item_results WHERE job_id = $1'),
    raw: await count("SELECT 1 FROM unmatched_lines WHERE job_id = $1 AND raw <> ''::bytea"),
    defaults: await count('SELECT 1 FROM batch_jobs WHERE job_id = $1 AND request_defaults IS NOT NULL'),
    artifacts: (await Array.fromAsync(store.list(`jobs/${jobId}/`))).length,
  };
}

const ALL = { requests: 3, results: 3, raw: 1, defaults: 1, artifacts: 1 };
const NOTHING = { requests: 0, results: 0, raw: 0, defaults: 0, artifacts: 0 };

test('content goes at its deadline, not a moment before, and accounts and hashes stay', async () => {
  const job = await newJob();
  const due = (await endOf(job)) + 30 * DAY_MS;
  await tidy(new Date(due - 1));
  expect(await contentOf(job)).toEqual(ALL);
  await tidy(new Date(due));
  expect(await contentOf(job)).toEqual(NOTHING);
  expect(provider.deleted.map(({ providerBatchId }) => providerBatchId)).toEqual([job.batchId]);
  const caller = await api.caller('tenant_admin', { tenantId: job.tenantId });
  expect(await caller.get(`/v1/batch-jobs/${job.jobId}/results`)).toMatchObject({
    status: 410,
    json: { error: 'content_deleted' },
  });
  expect((await caller.get(`/v1/batch-jobs/${job.jobId}/storage`)).json).toMatchObject({
    content_deleted_at: new Date(due).toISOString(),
    provider_files_deleted_at: new Date(due).toISOString(),
    hashes: { requests: 3, responses: 3 },
  });
  const { rows } = await db.pool.query(
    `SELECT (SELECT count(*)::int FROM item_outcomes WHERE job_id = $1) AS outcomes,
       (SELECT count(*)::int FROM ledger_entries WHERE subject_id = $1 AND item_no > 0) AS entries`,
    [job.uuid],
  );
  expect(rows[0]).toMatchObject({ outcomes: 3, entries: expect.any(Number) });
});

test('without a deadline content is kept for ever', async () => {
  const job = await newJob({ retentionMs: null });
  await tidy(new Date(Date.now() + 3_000 * DAY_MS));
  expect(await contentOf(job)).toEqual(ALL);
});

test('a removal that was broken off after its first word is finished by the next run', async () => {
  const job = await newJob({ retentionMs: null });
  await db.pool.query('UPDATE batch_jobs SET content_deleted_at = now(), removal_due_at = now() WHERE job_id = $1', [
    job.uuid,
  ]);
  await tidy(new Date(Date.now() + 1_000));
  expect(await contentOf(job)).toEqual({ ...NOTHING, defaults: 1 });
});

test('a store that is away is asked again, and raised after three times', async () => {
  const job = await newJob();
  const due = (await endOf(job)) + 30 * DAY_MS;
  const away: ArtifactStore = {
    ...store,
    list: () => {
      throw new ArtifactStoreError('unavailable', 'away');
    },
  };
  for (let hour = 0; hour < 3; hour += 1) {
    const found = await db.pool.query("SELECT 1 FROM sweep_findings WHERE kind = 'deletion_overdue'");
    expect(found.rowCount).toBe(0);
    await tidy(new Date(due + hour * (HOUR_MS + 1_000)), hour === 1 ? null : away);
  }
  const { rows } = await db.pool.query(
    "SELECT outcome, facts FROM sweep_findings WHERE kind = 'deletion_overdue' AND job_id = $1",
    [job.uuid],
  );
  expect(rows).toEqual([{ outcome: 'raised', facts: { what: 'artifacts', failures: 3 } }]);
  expect(await contentOf(job)).toMatchObject({ requests: 0, artifacts: 1 });
  await tidy(new Date(due + 5 * HOUR_MS));
  expect(await contentOf(job)).toEqual(NOTHING);
  const after = await db.pool.query('SELECT removal_due_at, removal_failures FROM batch_jobs WHERE job_id = $1', [
    job.uuid,
  ]);
  expect(after.rows).toEqual([{ removal_due_at: null, removal_failures: 0 }]);
});

test('a provider that refuses three times is raised too', async () => {
  const job = await newJob();
  const due = (await endOf(job)) + 30 * DAY_MS;
  // Else its files would be gone by themselves.
  await db.pool.query('UPDATE batch_jobs SET retrieval_deadline = NULL WHERE job_id = $1', [job.uuid]);
  provider.onDelete = async () => {
    throw refusal('unavailable');
  };
  for (let hour = 0; hour < 3; hour += 1) await tidy(new Date(due + hour * (HOUR_MS + 1_000)));
  const { rows } = await db.pool.query(
    "SELECT facts FROM sweep_findings WHERE kind = 'deletion_overdue' AND job_id = $1",
    [job.uuid],
  );
  expect(rows).toEqual([{ facts: { what: 'provider_files', failures: 3 } }]);
});

async function hold(of: { tenantId: string }, wanted: Record<string, string>) {
  const admin = await api.caller('gateway_admin');
  const { status, json } = await admin.post(`/v1/admin/tenants/${of.tenantId}/legal-holds`, {
    reason: 'case 1',
    ...wanted,
  });
  expect(status).toBe(201);
  const lift = () => admin.call('DELETE', `/v1/admin/tenants/${of.tenantId}/legal-holds/${json.hold_id}`);
  return { admin, holdId: String(json.hold_id), lift };
}

test.each(['job', 'customer', 'tenant'])(
  'content held by its %s is not deleted until the hold is lifted',
  async (scope) => {
    const customerId = 'one';
    const job = await newJob({ customerId });
    await db.pool.query("INSERT INTO customers (tenant_id, customer_id, name) VALUES ($1, $2, 'x')", [
      job.tenantId,
      customerId,
    ]);
    const of = { job: { job_id: job.jobId }, customer: { customer_id: customerId }, tenant: {} }[scope] ?? {};
    const { admin, holdId, lift } = await hold(job, of);
    const after = new Date((await endOf(job)) + 40 * DAY_MS);
    await tidy(after);
    expect(await contentOf(job)).toEqual(ALL);
    expect(provider.deleted).toEqual([]);
    const caller = await api.caller('tenant_admin', { tenantId: job.tenantId });
    const refused = await caller.call('DELETE', `/v1/batch-jobs/${job.jobId}`);
    expect(refused).toMatchObject({
      status: 409,
      json: { error: 'legal_hold', message: expect.stringContaining(holdId) },
    });
    const asked = await admin.post(`/v1/admin/tenants/${job.tenantId}/customers/${customerId}/delete-data`, {
      reason: 'x',
    });
    expect(asked).toMatchObject({
      status: 202,
      json: { state: 'running', waiting: { held_jobs: 1 }, deleted: { jobs: 0 } },
    });
    await tidy(after);
    expect(await contentOf(job)).toEqual(ALL);
    expect(await lift()).toMatchObject({ status: 200, json: { hold_id: holdId, lifted_at: expect.any(String) } });
    const { json: again } = await lift();
    expect(again.lifted_at).toEqual(expect.any(String));
    await tidy(after);
    expect(await contentOf(job)).toEqual(NOTHING);
    const path = `/v1/admin/tenants/${job.tenantId}/customers/${customerId}/data-deletions/${asked.json.deletion_id}`;
    expect((await admin.get(path)).json).toMatchObject({ state: 'completed', waiting: { held_jobs: 0 } });
    const { rows } = await db.pool.query(
      "SELECT act, subject, details FROM audit_log WHERE tenant_id = $1 AND act LIKE 'legal_hold.%' ORDER BY entry_no",
      [job.tenantId],
    );
    expect(rows).toEqual([
      { act: 'legal_hold.set', subject: holdId, details: of },
      { act: 'legal_hold.lifted', subject: holdId, details: of },
    ]);
  },
);

test('a hold of another job, customer or tenant holds nothing of this one', async () => {
  const job = await newJob({ customerId: 'mine' });
  const other = await newJob({ customerId: 'mine' });
  await hold(other, {});
  await db.pool.query("INSERT INTO customers (tenant_id, customer_id, name) VALUES ($1, 'theirs', 'x')", [
    job.tenantId,
  ]);
  await hold(job, { customer_id: 'theirs' });
  await tidy(new Date((await endOf(job)) + 31 * DAY_MS));
  expect(await contentOf(job)).toEqual(NOTHING);
  expect(await contentOf(other)).toEqual(ALL);
});

test('a held job that keeps no content keeps its requests and the provider’s files until it is free', async () => {
  const { shard, ...job } = await startJob(db, provider, 'hashes');
  const { lift } = await hold(job, { job_id: job.jobId });
  await shard.close('batch_completed');
  await db.pool.query(
    "UPDATE batch_jobs SET state = 'completed', completed_at = now(), provider_files_due_at = now() WHERE job_id = $1",
    [job.uuid],
  );
  await tidy(new Date(Date.now() + 2 * DAY_MS));
  expect(await contentOf(job)).toMatchObject({ requests: 3, defaults: 1 });
  expect(provider.deleted).toEqual([]);
  await lift();
  await tidy(new Date(Date.now() + 2 * DAY_MS));
  expect(await contentOf(job)).toMatchObject({ requests: 0, defaults: 0 });
  expect(provider.deleted).toHaveLength(1);
});

test('a hold that comes after a job was listed for deletion still keeps it', async () => {
  const job = await newJob();
  await hold(job, { job_id: job.jobId });
  const { rows } = await db.pool.query<{ bucket: number }>('SELECT bucket FROM batch_jobs WHERE job_id = $1', [
    job.uuid,
  ]);
  expect(await markContentDeleted(db.pool, { uuid: job.uuid, bucket: rows[0]?.bucket ?? 0 }, new Date())).toBe(false);
  expect(await contentOf(job)).toEqual(ALL);
});

test('a draft that is held cannot be deleted', async () => {
  const caller = await api.caller('tenant_admin');
  const jobId = await caller.draft(1);
  const { rows } = await db.pool.query<{ tenantId: string }>(
    'SELECT tenant_id AS "tenantId" FROM batch_jobs ORDER BY created_at DESC LIMIT 1',
  );
  const { tenantId = '' } = rows[0] ?? {};
  const { lift } = await hold({ tenantId }, {});
  expect((await caller.call('DELETE', `/v1/batch-jobs/${jobId}`)).json.error).toBe('legal_hold');
  await lift();
  expect((await caller.call('DELETE', `/v1/batch-jobs/${jobId}`)).status).toBe(204);
});

test('a customer’s data is deleted on request: ended jobs and drafts at once, running ones after their end, later ones never', async () => {
  const ended = await newJob({ customerId: 'gone', retentionMs: null });
  const { tenantId } = ended;
  await db.pool.query("INSERT INTO customers (tenant_id, customer_id, name) VALUES ($1, 'gone', 'x')", [tenantId]);
  const caller = await api.caller('customer', { tenantId, customerId: 'gone' });
  const neighbour = await api.caller('tenant_admin', { tenantId });
  const draft = await caller.draft(2);
  const others = await neighbour.draft(1);
  const running = await startJob(db, provider, 'raw', { artifacts: store });
  await db.pool.query("UPDATE batch_jobs SET tenant_id = $2, customer_id = 'gone' WHERE job_id = $1", [
    running.uuid,
    tenantId,
  ]);
  const admin = await api.caller('gateway_admin');
  const base = `/v1/admin/tenants/${tenantId}/customers/gone`;
  const key = { 'idempotency-key': 'once' };
  const asked = await admin.post(`${base}/delete-data`, { reason: 'contract ended' }, key);
  expect(asked.status).toBe(202);
  expect(api.workflows.calls).toContainEqual(['runRetention']);
  expect((await admin.post(`${base}/delete-data`, { reason: 'contract ended' }, key)).json).toEqual(asked.json);
  const later = await caller.draft(1);
  await db.pool.query(
    "UPDATE batch_jobs SET created_at = now() + interval '1 minute' WHERE created_at = (SELECT max(created_at) FROM batch_jobs)",
  );
  await tidy(new Date(Date.now() + 1_000));
  const report = async () => (await admin.get(`${base}/data-deletions/${asked.json.deletion_id}`)).json;
  expect(await report()).toMatchObject({
    state: 'running',
    completed_at: null,
    reason: 'contract ended',
    deleted: { jobs: 1, drafts: 1, requests: 3, results: 3, artifacts: 1, provider_batches: 1 },
    waiting: { open_jobs: 1, held_jobs: 0, artifacts: 1 },
    left_at_providers: [{ job_id: running.jobId, provider: 'openai', batches: 1, expires_at: expect.any(String) }],
  });
  expect(await contentOf(ended)).toEqual(NOTHING);
  expect((await caller.get(`/v1/batch-jobs/${draft}`)).status).toBe(404);
  for (const kept of [later, others]) expect((await neighbour.get(`/v1/batch-jobs/${kept}`)).status).toBe(200);
  await running.shard.close('batch_completed');
  await db.pool.query("UPDATE batch_jobs SET state = 'completed', completed_at = now() WHERE job_id = $1", [
    running.uuid,
  ]);
  await tidy(new Date(Date.now() + 1_000));
  expect(await contentOf(running)).toEqual(NOTHING);
  const last = await report();
  expect(last).toMatchObject({
    state: 'completed',
    completed_at: expect.any(String),
    deleted: { jobs: 2, drafts: 1, artifacts: 2, provider_batches: 2 },
    waiting: { open_jobs: 0, jobs_being_removed: 0, held_jobs: 0, artifacts: 0 },
    left_at_providers: [],
  });
  expect(last.kept.map(({ what }: { what: string }) => what)).toEqual(['accounts', 'hashes', 'audit_log']);
  expect((await admin.get(`${base}/data-deletions`)).json.data).toMatchObject([
    { deletion_id: last.deletion_id, state: 'completed' },
  ]);
  const { rows } = await db.pool.query(
    "SELECT subject, details FROM audit_log WHERE act = 'customer.data_deleted' AND tenant_id = $1",
    [tenantId],
  );
  expect(rows).toEqual([{ subject: 'gone', details: { deletion_id: last.deletion_id } }]);
});

test('holds and deletions of others are not there', async () => {
  const job = await newJob();
  const admin = await api.caller('gateway_admin');
  const other = await api.tenant();
  const { holdId } = await hold(job, {});
  const lift = (id: string) => admin.call('DELETE', `/v1/admin/tenants/${other}/legal-holds/${id}`);
  for (const id of [holdId, newId('legalHold'), 'x', '%00'])
    expect(await lift(id)).toMatchObject({ status: 404, json: { error: 'not_found' } });
  const set = (json: Record<string, string>) =>
    admin.post(`/v1/admin/tenants/${other}/legal-holds`, { reason: 'x', ...json });
  expect(await set({ job_id: job.jobId })).toMatchObject({ status: 404, json: { field: 'job_id' } });
  expect(await set({ customer_id: 'nobody' })).toMatchObject({ status: 404, json: { field: 'customer_id' } });
  expect(await set({ job_id: job.jobId, customer_id: 'nobody' })).toMatchObject({ status: 400 });
  const list = async (query = '') => (await admin.get(`/v1/admin/tenants/${job.tenantId}/legal-holds${query}`)).json;
  await hold(job, { job_id: job.jobId });
  const first = await list('?limit=1');
  expect(first.data).toMatchObject([{ hold_id: holdId, reason: 'case 1' }]);
  expect((await list(`?limit=1&cursor=${first.next_cursor}`)).data).toMatchObject([{ job_id: job.jobId }]);
  await admin.call('DELETE', `/v1/admin/tenants/${job.tenantId}/legal-holds/${holdId}`);
  expect((await list()).data).toHaveLength(1);
  expect((await list('?lifted=include')).data).toHaveLength(2);
  const base = `/v1/admin/tenants/${other}/customers/nobody`;
  expect((await admin.post(`${base}/delete-data`, { reason: 'x' })).status).toBe(404);
  expect((await admin.get(`${base}/data-deletions`)).status).toBe(404);
  expect((await admin.get(`${base}/data-deletions/x`)).status).toBe(404);
});

test('the template of a deleted schedule loses what it put into requests', async () => {
  const tenantId = await api.tenant();
  const insert = async (deleted: boolean) => {
    const scheduleId = newId('schedule');
    await db.pool.query(
      `INSERT INTO batch_schedules (schedule_id, tenant_id, api_key_id, name, timing, job, items, submits, overlap, created_at, updated_at, deleted_at)
       VALUES ($1, $2, 'key_x', 'x', '{}', '{"model": "m", "request_defaults": {"user": "planted"}}', '{}', true, 'skip', now(), now(),
         CASE WHEN $3 THEN now() END)`,
      [scheduleId, tenantId, deleted],
    );
    return scheduleId;
  };
  const [deleted, kept] = [await insert(true), await insert(false)];
  await tidy(new Date());
  const { rows } = await db.pool.query('SELECT schedule_id, job FROM batch_schedules WHERE tenant_id = $1', [tenantId]);
  const jobOf = (id: string) => rows.find(({ schedule_id }) => schedule_id === id)?.job;
  expect(jobOf(deleted)).toEqual({ model: 'm' });
  expect(jobOf(kept)).toHaveProperty('request_defaults');
});
