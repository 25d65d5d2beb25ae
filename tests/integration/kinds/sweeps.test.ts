import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { createDatabaseActivities } from '../../../activities/create-activities.ts';
import { listEvents } from '../../../db/events.ts';
import { getShard } from '../../../db/shards.ts';
import type { JobKind } from '../../../domain/job-kind.ts';
import { closeJob } from '../../../ledger/close-job.ts';
import { settleRemainder } from '../../../ledger/settle.ts';
import { verifyLedger } from '../../../ledger/verify.ts';
import { runActivity, testDependencies } from '../../harness/activities.ts';
import { createTestApi } from '../../harness/api.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { endedLedgerJob, readMoney, refund, runningLedgerJob, settleItem } from '../ledger/ledger-job.ts';
import { findings, ScriptedWorkflows, sweeper } from '../sweeps/sweep-fixture.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);

const HOUR_MS = 3_600_000;
const later = () => new Date(Date.now() + 24 * HOUR_MS);
const NONE = { looked: 0, repaired: 0, raised: 0, failed: 0 };

let workflows: ScriptedWorkflows;
let sweep: ReturnType<typeof sweeper>;
beforeEach(async () => {
  await db.pool.query('UPDATE holds SET released = amount - drawn WHERE released IS NULL');
  await db.pool.query("UPDATE batch_jobs SET state = 'failed', completed_at = now()");
  await db.pool.query('UPDATE batch_provider_metadata SET closed_at = now() WHERE closed_at IS NULL');
  await db.pool.query('DELETE FROM sweep_findings');
  workflows = new ScriptedWorkflows();
  sweep = sweeper(db, { workflows, now: later });
});

async function read<Row extends object>(sql: string, uuid: string): Promise<Row[]> {
  return (await db.pool.query<Row>(sql, [uuid])).rows;
}

/** An open job whose batch nobody asks after, past its deadline, with a create that was never answered. */
async function standingStill(kind: JobKind): Promise<void> {
  const { job } = await runningLedgerJob(db, { kind });
  const change = async (sql: string) => db.pool.query(`${sql} WHERE job_id = $1`, [job.key.uuid]);
  await change("UPDATE batch_jobs SET deadline = now() + interval '1 minute'");
  await change("UPDATE batch_shards SET state = 'running'");
  await change(
    'UPDATE batch_provider_metadata SET create_started_at = now(), create_deadline = now(), create_outcome = NULL',
  );
}

test('a batch job that stands still is found in every way', async () => {
  await standingStill('batch');
  expect(await sweep('recoverJobs')).toMatchObject({ started: 1 });
  for (const name of ['sweepShards', 'sweepDeadlines', 'sweepCreates'] as const)
    expect([name, await sweep(name)]).toMatchObject([name, { looked: 1 }]);
});

describe.each(['task', 'document'] as const)('a %s', (kind) => {
  const prefix = kind === 'task' ? 'task_' : 'run_';

  test('that stands still, or is past a deadline, is none of the sweeps of batch jobs', async () => {
    await standingStill(kind);
    expect(await sweep('recoverJobs')).toEqual({ started: 0, signalled: 0, failed: 0 });
    for (const name of ['sweepShards', 'sweepDeadlines', 'sweepCreates', 'sweepRoom'] as const)
      expect([name, await sweep(name)]).toEqual([name, NONE]);
    expect(workflows.calls).toEqual([]);
    expect(await findings(db)).toEqual([]);
  });

  test('that has ended with money held gives it back, once, and is found by its own id', async () => {
    const of = await runningLedgerJob(db, { kind, items: 2, outputTokens: 1_000 });
    await settleItem(db, of, 1, { input: 100, output: 100 });
    await db.pool.query("UPDATE batch_jobs SET state = 'failed', completed_at = now() WHERE job_id = $1", [
      of.job.key.uuid,
    ]);
    expect(await sweep('sweepMoney')).toEqual({ ...NONE, looked: 1, repaired: 1 });
    expect(await sweep('sweepMoney')).toEqual(NONE);
    const money = await readMoney(db, of);
    expect([money.held, money.released]).toEqual([0n, money.reserved - money.settled]);
    expect(money.entries.released).toBe(money.released);
    expect(of.job.jobId.startsWith(prefix)).toBe(true);
    expect(await findings(db)).toMatchObject([{ subject: `${of.job.jobId}#1`, jobId: of.job.jobId }]);
  });

  test('whose money was altered is told of by its own id, to operators and to its tenant', async () => {
    const of = await endedLedgerJob(db, { kind }, [{ input: 100, output: 10 }]);
    const { jobId, key } = of.job;
    expect((await verifyLedger(db, { jobId })).differences).toEqual([]);
    await db.pool.query('UPDATE job_progress SET settled_amount = settled_amount + 5 WHERE job_id = $1', [key.uuid]);
    await db.pool.query('UPDATE job_rollups SET items = items + 1 WHERE job_id = $1', [key.uuid]);
    const { differences } = await verifyLedger(db, { jobId });
    expect(new Set(differences.map(({ subject }) => subject.split(' ')[0]))).toEqual(new Set([jobId]));
    const checks = differences.map(({ check }) => check);
    expect(checks).toContain('settled amount against ledger entries');
    expect(checks).toContain('items');
    sweep = sweeper(db, { workflows });
    await sweep('verifyLedgers');
    expect((await findings(db)).find((finding) => finding.jobId === jobId)).toMatchObject({
      kind: 'ledger_difference',
    });
    expect(await listEvents(db.pool, key.uuid, 0)).toMatchObject([
      { type: 'ledger.difference', data: { job_id: jobId } },
    ]);
    const operator = await createTestApi(db).caller('operator');
    const verified = await operator.get(`/v1/operator/ledger/verify?job_id=${jobId}`);
    expect(verified).toMatchObject({ status: 200, json: { ok: false, jobs: 1 } });
    await db.pool.query('UPDATE job_progress SET settled_amount = settled_amount - 5 WHERE job_id = $1', [key.uuid]);
    await db.pool.query('UPDATE job_rollups SET items = items - 1 WHERE job_id = $1', [key.uuid]);
  });

  test('is charged the standard price, and one that was charged the batch price is named', async () => {
    const of = await endedLedgerJob(db, { kind, outputTokens: 1_000 }, [{ input: 1_000_000, output: 1_000 }]);
    // Of gpt-4o-mini: 0.15 and 0.60 for a million tokens.
    expect((await readMoney(db, of)).settled).toBe(150_600_000_000n);
    await db.pool.query("UPDATE batch_jobs SET kind = 'document', price_mode = 'batch' WHERE job_id = $1", [
      of.job.key.uuid,
    ]);
    const { differences } = await verifyLedger(db, {});
    expect(differences.filter(({ check }) => check === 'charge')).toMatchObject([
      { found: expect.stringMatching(/^0\.1506/), expected: expect.stringMatching(/^0\.0753/) },
    ]);
    await db.pool.query('UPDATE batch_jobs SET kind = $2, price_mode = $3 WHERE job_id = $1', [
      of.job.key.uuid,
      kind,
      'standard',
    ]);
  });

  test('has its money on record by its own name alone, refunds among it', async () => {
    const of = await endedLedgerJob(db, { kind, outputTokens: 60_000 }, [{ input: 100, output: 50 }]);
    expect(await refund(db, of, 1)).toMatchObject({ kind: 'refunded', isNew: true });
    expect(await refund(db, of, 1)).toMatchObject({ kind: 'refunded', isNew: false });
    const events = await read<{ event: string }>(
      'SELECT DISTINCT event FROM ledger_entries WHERE subject_id = $1 ORDER BY 1',
      of.job.key.uuid,
    );
    expect(events.map(({ event }) => event)).toEqual(
      ['estimated', 'item.refunded', 'item.settled', 'reconciled', 'released', 'reserved'].map(
        (act) => `${kind}.${act}`,
      ),
    );
    expect((await verifyLedger(db, { jobId: of.job.jobId })).differences).toEqual([]);
    await db.pool.query("UPDATE tenants SET overage_policy = 'charge' WHERE tenant_id = $1", [of.tenant.tenantId]);
  });

  test('announces nothing as a batch job does, whatever it ends as', async () => {
    const of = await runningLedgerJob(db, { kind });
    const shard = await getShard(db.pool, of.job.key, 1);
    const range = { job: of.job, shard, attempt: 1, firstItemNo: 1, lastItemNo: 1 };
    const blocked = { state: 'failed', failureClass: 'safety_blocked', code: 'safety_blocked' } as const;
    expect(await settleRemainder(db, range, { ...blocked, message: 'x', nativeError: null })).toBe(1);
    expect(await closeJob(db, of.job.jobId, new Date())).toMatchObject({ state: 'failed', itemsWithoutOutcome: 0 });
    expect(await listEvents(db.pool, of.job.key.uuid, 0)).toEqual([]);
    const [row] = await read<{ due: Date | null }>(
      'SELECT provider_files_due_at AS due FROM batch_jobs WHERE job_id = $1',
      of.job.key.uuid,
    );
    expect(row?.due).toBeNull();
  });

  test('that overran suspends its scope under its own id', async () => {
    const of = await endedLedgerJob(db, { kind, policy: 'suspend' }, [{ input: 1_000, output: 50_000 }]);
    const admin = await createTestApi(db).caller('tenant_admin', { tenantId: of.tenant.tenantId });
    const refused = await admin.post(`/v1/batch-jobs/${await admin.draft(1)}/submit`);
    expect(refused.status).toBeGreaterThanOrEqual(400);
    const gateway = await createTestApi(db).caller('gateway_admin');
    const { json } = await gateway.get(`/v1/admin/tenants/${of.tenant.tenantId}/suspensions`);
    expect(json.data).toMatchObject([{ job_id: of.job.jobId }]);
  });
});

test('a hold whose task was never written is given back', async () => {
  const { job } = await runningLedgerJob(db, { kind: 'task' });
  expect(await sweep('sweepMoney')).toEqual(NONE);
  await db.pool.query('DELETE FROM async_tasks WHERE task_id = $1', [job.key.uuid]);
  expect(await sweep('sweepMoney')).toEqual({ ...NONE, looked: 1, repaired: 1 });
});

test('batch jobs announce their end as before', async () => {
  const of = await endedLedgerJob(db, {}, [{ input: 10, output: 1 }]);
  const types = (await listEvents(db.pool, of.job.key.uuid, 0)).map(({ type }) => type);
  expect(types).toEqual(['batch_job.completed']);
  await runActivity(createDatabaseActivities(testDependencies(db)).reconcileJob, { jobId: of.job.jobId });
  expect(await listEvents(db.pool, of.job.key.uuid, 0)).toHaveLength(1);
});

test('verification of everything looks at jobs of every kind', async () => {
  await endedLedgerJob(db, { kind: 'task' }, [{ input: 10, output: 1 }]);
  await endedLedgerJob(db, { kind: 'document' }, [{ input: 10, output: 1 }]);
  const [counted] = (
    await db.pool.query<{ jobs: number }>(
      'SELECT count(*)::int AS jobs FROM batch_jobs WHERE reserved_amount IS NOT NULL',
    )
  ).rows;
  expect((await verifyLedger(db, {})).jobs).toBe(counted?.jobs);
});
