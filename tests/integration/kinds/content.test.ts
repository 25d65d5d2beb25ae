import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { createMaintenanceActivities } from '../../../activities/maintenance.ts';
import { newId } from '../../../db/ids.ts';
import { dropEmptyMonths } from '../../../db/old-months.ts';
import { addOutputHistory, listOutputHistory } from '../../../db/output-history.ts';
import { measureResults } from '../../../db/result-bytes.ts';
import { requireCapsOfNewJob } from '../../../db/tenant-caps.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { itemStateCode } from '../../../domain/item-state.ts';
import type { JobKind } from '../../../domain/job-kind.ts';
import { runActivity, testDependencies } from '../../harness/activities.ts';
import { createTestApi } from '../../harness/api.ts';
import { insertJob, insertTenant, type TestTenant } from '../../harness/jobs.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { endedLedgerJob, type LedgerJob, runningLedgerJob } from '../ledger/ledger-job.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);
const api = createTestApi(db);

const DAY_MS = 24 * 3_600_000;
const SOON = () => new Date(Date.now() + DAY_MS);

beforeEach(async () => {
  await db.pool.query('UPDATE batch_jobs SET removal_due_at = NULL, content_retention_ms = NULL');
});

async function tidy(at: Date): Promise<void> {
  const { tidyTables } = createMaintenanceActivities(testDependencies(db, { now: () => at }));
  await runActivity(async (_: null) => tidyTables(), null);
}

/** Requests on the ordinary endpoint leave nothing at their provider. */
async function leaveNoBatch({ job }: LedgerJob): Promise<void> {
  await db.pool.query('DELETE FROM batch_provider_metadata WHERE job_id = $1', [job.key.uuid]);
}

/** An ended job of two items whose content is kept for a time. */
async function endedJob(
  kind: JobKind,
  {
    tenant,
    ...columns
  }: { tenant?: TestTenant; customer?: string; retentionMs?: number | null; storage?: string } = {},
): Promise<LedgerJob> {
  const used = { input: 10, output: 5 };
  const of = await endedLedgerJob(db, { kind, ...(tenant !== undefined && { tenant }) }, [used, used]);
  const { customer = null, retentionMs = null, storage = 'normalized' } = columns;
  await db.pool.query(
    'UPDATE batch_jobs SET customer_id = $2, content_retention_ms = $3, storage = $4 WHERE job_id = $1',
    [of.job.key.uuid, customer, retentionMs, storage],
  );
  await leaveNoBatch(of);
  return of;
}

async function contentOf({ job }: LedgerJob): Promise<readonly (number | null)[]> {
  const count = async (table: string) =>
    (await db.pool.query(`SELECT 1 FROM ${table} WHERE job_id = $1`, [job.key.uuid])).rowCount;
  return [await count('item_requests'), await count('item_results')];
}

describe.each(['task', 'document'] as const)('a %s', (kind) => {
  test('loses its content when its time is up, not a moment before', async () => {
    const job = await endedJob(kind, { retentionMs: DAY_MS });
    const { rows } = await db.pool.query<{ at: Date }>('SELECT completed_at AS at FROM batch_jobs WHERE job_id = $1', [
      job.job.key.uuid,
    ]);
    const due = (rows[0]?.at.getTime() ?? Number.NaN) + DAY_MS;
    await tidy(new Date(due - 1));
    expect(await contentOf(job)).toEqual([2, 2]);
    await tidy(new Date(due));
    expect(await contentOf(job)).toEqual([0, 0]);
  });

  test('that keeps no requests loses them after its end', async () => {
    const job = await endedJob(kind, { storage: 'hashes' });
    await tidy(new Date());
    expect((await contentOf(job))[0]).toBe(0);
  });

  test('is held by a hold of its own, named by its own id, as well as of its customer and its tenant', async () => {
    const admin = await api.caller('gateway_admin');
    const job = await endedJob(kind, { customer: 'one', retentionMs: DAY_MS });
    const { tenantId } = job.tenant;
    await db.pool.query("INSERT INTO customers (tenant_id, customer_id, name) VALUES ($1, 'one', 'One')", [tenantId]);
    for (const held of [{ job_id: job.job.jobId }, { customer_id: 'one' }, {}]) {
      const path = `/v1/admin/tenants/${tenantId}/legal-holds`;
      const made = await admin.post(path, { ...held, reason: 'court' });
      expect(made).toMatchObject({ status: 201, json: held });
      expect((await admin.get(path)).json.data).toMatchObject([{ hold_id: made.json.hold_id, ...held }]);
      await tidy(new Date(Date.now() + 2 * DAY_MS));
      expect(await contentOf(job)).toEqual([2, 2]);
      expect((await admin.call('DELETE', `${path}/${made.json.hold_id}`)).status).toBe(200);
    }
    const wrong = await admin.post(`/v1/admin/tenants/${tenantId}/legal-holds`, {
      job_id: newId(kind === 'task' ? 'task' : 'documentRun'),
      reason: 'court',
    });
    expect(wrong.status).toBe(404);
    await tidy(new Date(Date.now() + 2 * DAY_MS));
    expect(await contentOf(job)).toEqual([0, 0]);
  });

  test('goes with its customer’s data, once it has ended', async () => {
    const admin = await api.caller('gateway_admin');
    const ended = await endedJob(kind, { customer: 'gone' });
    const { tenantId } = ended.tenant;
    await db.pool.query("INSERT INTO customers (tenant_id, customer_id, name) VALUES ($1, 'gone', 'x')", [tenantId]);
    const running = await runningLedgerJob(db, { kind, tenant: ended.tenant });
    await db.pool.query("UPDATE batch_jobs SET customer_id = 'gone' WHERE job_id = $1", [running.job.key.uuid]);
    const base = `/v1/admin/tenants/${tenantId}/customers/gone`;
    const asked = await admin.post(`${base}/delete-data`, { reason: 'contract ended' });
    await tidy(SOON());
    expect([await contentOf(ended), await contentOf(running)]).toEqual([
      [0, 0],
      [1, 0],
    ]);
    const report = async () => (await admin.get(`${base}/data-deletions/${asked.json.deletion_id}`)).json;
    expect(await report()).toMatchObject({ state: 'running', deleted: { jobs: 1 }, waiting: { open_jobs: 1 } });
    await leaveNoBatch(running);
    await db.pool.query("UPDATE batch_jobs SET state = 'failed', completed_at = now() WHERE job_id = $1", [
      running.job.key.uuid,
    ]);
    await tidy(SOON());
    expect(await contentOf(running)).toEqual([0, 0]);
  });

  test('counts among the open items and the stored bytes of its tenant, and among no drafts', async () => {
    const tenant = await insertTenant(db);
    const open = await insertJob(db, tenant, { kind, items: 2 });
    const refusalOf = async (caps: Record<string, number>) => {
      await db.pool.query('UPDATE tenants SET policy = $2 WHERE tenant_id = $1', [tenant.tenantId, caps]);
      const growth = inTransaction(db, (client) => requireCapsOfNewJob(client, tenant.tenantId, open.key.uuid));
      return growth.then(
        () => null,
        (error: { code?: string }) => error.code,
      );
    };
    expect(await refusalOf({ max_drafts: 0 })).toBeNull();
    expect(await refusalOf({ max_open_items: 2 })).toBeNull();
    expect(await refusalOf({ max_open_items: 1 })).toBe('quota_exceeded');
  });

  test('keeps the partition of its month while it is open', async () => {
    const { job } = await runningLedgerJob(db, { kind });
    await db.pool.query("UPDATE batch_jobs SET state = 'failed', completed_at = now() WHERE job_id <> $1", [
      job.key.uuid,
    ]);
    await db.pool.query('DELETE FROM item_requests');
    await db.pool.query('DELETE FROM item_results');
    const inTwoMonths = new Date(Date.now() + 70 * DAY_MS);
    const client = await db.pool.connect();
    try {
      const month = String(job.key.bucket);
      const dropped = await dropEmptyMonths(client, inTwoMonths);
      expect(dropped.filter((name) => name.endsWith(month))).toEqual([]);
    } finally {
      client.release();
    }
  });

  test('has its reply measured, beside many others at once', async () => {
    const made = await Promise.all([1, 2, 3].map(() => endedJob(kind)));
    await db.pool.query('UPDATE item_results SET body = \'{"long":true}\'');
    await Promise.all([measureResults(db.pool), measureResults(db.pool)]);
    const { rows } = await db.pool.query<{ bytes: string; open: number }>(
      'SELECT result_bytes AS bytes, last_seq - measured_seq AS open FROM job_progress WHERE job_id = ANY($1)',
      [made.map(({ job }) => job.key.uuid)],
    );
    expect(rows.map(({ bytes, open }) => [Number(bytes), open])).toEqual(made.map(() => [26, 0]));
  });

  test('teaches how long replies of its endpoint are', async () => {
    const tenant = await insertTenant(db);
    const body = (): Record<string, unknown> => ({ messages: [{ role: 'user', content: 'hello' }] });
    const made = await insertJob(db, tenant, { kind, items: 1, outputTokens: 0, body });
    await db.pool.query(
      `INSERT INTO batch_shards (job_id, shard, first_item_no, last_item_no, requested_model, provider, provider_model, item_count, byte_count, state)
       VALUES ($1, 1, 1, 1, '', 'openai', 'gpt-4o-mini', 1, 1, 'settled')`,
      [made.key.uuid],
    );
    await db.pool.query(
      `INSERT INTO item_outcomes (bucket, job_id, item_no, seq, shard, attempt, state, failure_class, error_code, input_tokens,
         cached_input_tokens, cache_write_tokens, long_cache_write_tokens, output_tokens, reasoning_tokens, usage_estimated, amount, model)
       VALUES ($1, $2, 1, 1, 1, 1, $3, '', '', 10, 0, 0, 0, 900, 0, false, 0, 'gpt-4o-mini')`,
      [made.key.bucket, made.key.uuid, itemStateCode('completed')],
    );
    await inTransaction(db, (client) => addOutputHistory(client, made));
    expect(await listOutputHistory(db.pool, made)).toMatchObject([{ provider: 'openai', model: 'gpt-4o-mini' }]);
  });
});
