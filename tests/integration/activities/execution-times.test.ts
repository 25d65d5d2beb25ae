import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabaseActivities } from '../../../activities/create-activities.ts';
import { getJobRow, lockJobRow } from '../../../db/job-rows.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { recordJobCancel } from '../../../ledger/cancels.ts';
import type { LineResult } from '../../../providers/provider.ts';
import { runActivity, testDependencies } from '../../harness/activities.ts';
import { FakeProvider, refusal } from '../../harness/fake-provider.ts';
import type { TestJobOptions } from '../../harness/jobs.ts';
import { createTestDatabase, type TestDatabase } from '../../harness/postgres.ts';
import { createTestShards, type TestShard } from '../../harness/shard-activities.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const MINUTE_MS = 60_000;
/** After whatever the database dates by itself. */
const NOW = new Date(Date.now() + 60 * MINUTE_MS);
const after = (ms: number) => new Date(NOW.getTime() + ms);
const DEADLINE = after(MINUTE_MS);

/** Lines are ids of items that were answered, or `cancelled <id>`. */
class CancellingProvider extends FakeProvider {
  override decodeLine(endpoint: string, line: string) {
    if (!line.startsWith('cancelled ')) return super.decodeLine(endpoint, line);
    const result = { kind: 'cancelled' } as unknown as LineResult;
    return { kind: 'result' as const, providerItemId: line.slice('cancelled '.length), result };
  }
}

/** A shard whose activities read the time from `clock`. */
async function newShard(options: TestJobOptions, provider = new CancellingProvider()) {
  const clock = { at: NOW };
  const shards = createTestShards(database.db, provider, { now: () => clock.at });
  return { clock, provider, shard: await shards.newShard({ deadline: DEADLINE, ...options }) };
}

/** How the job's items ended, by number, and how it did itself. */
async function endOf({ ref }: TestShard) {
  const { db } = database;
  const { reconcileJob } = createDatabaseActivities(testDependencies(db));
  const { state } = await runActivity(reconcileJob, { jobId: ref.jobId });
  const { rows } = await db.pool.query<{ end: string }>(
    `SELECT item_no || ' ' || coalesce(nullif(error_code, ''), 'completed') AS end FROM item_outcomes WHERE job_id = $1 ORDER BY item_no`,
    [(await getJobRow(db.pool, ref.jobId)).key.uuid],
  );
  return { state, items: rows.map(({ end }) => end) };
}

async function requestCancel({ ref }: TestShard, now: Date): Promise<void> {
  await inTransaction(database.db, async (client) => {
    await recordJobCancel(client, await lockJobRow(client, ref.jobId), { by: 'key_1', reason: null, now });
  });
}

test('a shard that was never sent is closed at the deadline, its items expired by it', async () => {
  const { clock, provider, shard } = await newShard({ items: 2 });
  clock.at = DEADLINE;
  expect(await shard.nextStep()).toEqual({ kind: 'close', reason: 'deadline' });
  await shard.close('deadline');
  expect(await endOf(shard)).toEqual({ state: 'expired', items: ['1 deadline', '2 deadline'] });
  expect(provider.creates).toEqual([]);
});

test('an attempt that was begun and not sent is given up at the deadline', async () => {
  const { clock, provider, shard } = await newShard({});
  expect(await shard.nextStep()).toMatchObject({ kind: 'submit', attempt: 1 });
  clock.at = DEADLINE;
  expect(await shard.nextStep()).toEqual({ kind: 'close', reason: 'deadline' });
  expect(await shard.attempt()).toMatchObject({ createOutcome: 'not_sent' });
  expect(provider.inputs).toEqual([]);
});

test('a deadline that passes during the upload keeps the create from being sent', async () => {
  const { clock, provider, shard } = await newShard({});
  provider.onUpload = async () => {
    clock.at = DEADLINE;
  };
  expect(await shard.submit()).toEqual({ kind: 'close', reason: 'deadline' });
  expect(provider.creates).toEqual([]);
});

test('an upload that the deadline cuts off is no failure', async () => {
  const { clock, provider, shard } = await newShard({});
  provider.onUpload = async () => {
    clock.at = DEADLINE;
    throw refusal('aborted');
  };
  expect(await shard.submit()).toMatchObject({ kind: 'wait', delayMs: 0, giveUp: null });
  expect(await shard.nextStep()).toEqual({ kind: 'close', reason: 'deadline' });
});

test('no wait for the provider lasts longer than the deadline', async () => {
  const provider = new CancellingProvider();
  provider.onUpload = async () => {
    throw Object.assign(refusal('rate_limited'), { retryAfterMs: 10 * MINUTE_MS });
  };
  const { shard } = await newShard({}, provider);
  const result = await shard.submit();
  if (result.kind !== 'wait') throw new Error(`the answer is ${result.kind}`);
  expect(result).toMatchObject({ reason: 'provider_rate_limit', giveUp: null });
  expect(result.delayMs).toBeGreaterThanOrEqual(MINUTE_MS);
  expect(result.delayMs).toBeLessThan(2 * MINUTE_MS);
});

test('a running batch is to be cancelled from the deadline on, though nobody requested a cancel', async () => {
  const { clock, shard } = await newShard({});
  await shard.submit();
  clock.at = after(MINUTE_MS - 5);
  const before = await shard.poll();
  expect(before).toMatchObject({ kind: 'open', cancelRequested: false, stopped: null });
  expect(before.delayMs).toBeLessThan(100);
  clock.at = DEADLINE;
  expect(await shard.poll()).toMatchObject({ kind: 'open', cancelRequested: true, stopped: 'deadline' });
  const job = await getJobRow(database.db.pool, shard.ref.jobId);
  expect(job).toMatchObject({ cancelRequestedAt: null, state: 'running' });
});

test('a batch is to be cancelled at the deadline also while its provider does not answer', async () => {
  const { clock, provider, shard } = await newShard({});
  await shard.submit();
  provider.batches.clear();
  clock.at = DEADLINE;
  expect(await shard.poll()).toMatchObject({ kind: 'open', cancelRequested: true, stopped: 'deadline' });
});

/** Ends the batch as cancelled at the given time, with item 1 answered, 2 cancelled by name and 3 without a line. */
async function endCancelled({ clock, provider, shard }: Awaited<ReturnType<typeof newShard>>, at: Date) {
  await shard.submit();
  const { providerBatchId, attemptToken } = await shard.attempt();
  if (providerBatchId === null) throw new Error('the batch was not accepted');
  clock.at = at;
  provider.move(providerBatchId, { phase: 'ended', end: 'cancelled', nativeStatus: 'cancelled' });
  provider.results.set(providerBatchId, [`${attemptToken}-1`, `cancelled ${attemptToken}-2`]);
  expect(await shard.poll()).toMatchObject({ kind: 'ended', end: 'cancelled' });
  await shard.ingest();
  clock.at = new Date(at.getTime() + MINUTE_MS);
  return shard.ingest(2);
}

test('what finished before the deadline is kept and charged, and what it cut is expired and free', async () => {
  const made = await newShard({ items: 3 });
  const result = await endCancelled(made, DEADLINE);
  expect(result).toMatchObject({ next: 'close', reason: 'deadline', remaining: 1 });
  await made.shard.close('deadline');
  expect(await endOf(made.shard)).toEqual({ state: 'expired', items: ['1 completed', '2 deadline', '3 deadline'] });
  const { rows } = await database.db.pool.query('SELECT item_no FROM item_outcomes WHERE job_id = $1 AND amount > 0', [
    (await getJobRow(database.db.pool, made.shard.ref.jobId)).key.uuid,
  ]);
  expect(rows).toEqual([{ item_no: 1 }]);
});

test('a batch that was cancelled at the provider before the deadline is not the deadline’s', async () => {
  const made = await newShard({ items: 3 });
  expect(await endCancelled(made, after(1_000))).toMatchObject({ next: 'close', reason: 'batch_cancelled' });
});

test('a cancel before the deadline wins, and one after it comes too late', async () => {
  const early = await newShard({ items: 1 });
  await requestCancel(early.shard, after(1_000));
  early.clock.at = after(2 * MINUTE_MS);
  expect(await early.shard.nextStep()).toEqual({ kind: 'close', reason: 'cancelled' });

  const late = await newShard({ items: 1 });
  await requestCancel(late.shard, after(MINUTE_MS + 1));
  late.clock.at = after(2 * MINUTE_MS);
  expect(await late.shard.nextStep()).toEqual({ kind: 'close', reason: 'deadline' });
  await late.shard.close('deadline');
  expect((await endOf(late.shard)).state).toBe('expired');
  const { rows } = await database.db.pool.query('SELECT cancel_outcome FROM batch_jobs WHERE job_id = $1', [
    (await getJobRow(database.db.pool, late.shard.ref.jobId)).key.uuid,
  ]);
  expect(rows).toEqual([{ cancel_outcome: 'too_late' }]);
});

test('an unanswered create is looked for after the deadline as before it', async () => {
  const { clock, provider, shard } = await newShard({});
  provider.onCreate = async () => {
    throw Object.assign(refusal('connection_lost'), { mayHaveActed: true });
  };
  expect(await shard.submit()).toMatchObject({ kind: 'unknown' });
  clock.at = DEADLINE;
  expect(await shard.nextStep()).toMatchObject({ kind: 'resolve' });
});

test('shards are held back until their time: admitted, shown as waiting, and not started', async () => {
  const { clock, provider, shard } = await newShard({ notBefore: after(30_000) });
  const { readShards } = createDatabaseActivities(testDependencies(database.db, { now: () => clock.at }));
  const view = () => runActivity(readShards, { jobId: shard.ref.jobId });
  const held = await view();
  expect(held).toMatchObject({ total: 1, toStart: [], status: 'queued' });
  expect(held.heldForMs).toBeGreaterThanOrEqual(30_000);
  expect(await shard.row()).toMatchObject({ state: 'planned', waitingReason: 'not_before', waitingSince: NOW });
  const job = await readWait(shard);
  expect(job).toMatchObject({ state: 'queued', waiting_reason: 'not_before', has_hold: true });
  expect(await shard.nextStep()).toMatchObject({ kind: 'held' });

  clock.at = after(30_000);
  const due = await view();
  expect(due).not.toHaveProperty('heldForMs');
  expect(due.toStart).toMatchObject([{ shard: 1 }]);
  expect(await readWait(shard)).toMatchObject({ state: 'queued', waiting_reason: null });
  expect(await shard.submit()).toEqual({ kind: 'accepted' });
  expect(provider.creates).toHaveLength(1);
});

test('a cancel of a job that is held back closes its shards at once', async () => {
  const { clock, shard } = await newShard({ notBefore: after(30_000) });
  const { readShards } = createDatabaseActivities(testDependencies(database.db, { now: () => clock.at }));
  await requestCancel(shard, after(1_000));
  expect((await runActivity(readShards, { jobId: shard.ref.jobId })).toStart).toMatchObject([{ shard: 1 }]);
  expect(await shard.nextStep()).toEqual({ kind: 'close', reason: 'cancelled' });
});

async function readWait({ ref }: TestShard) {
  const { rows } = await database.db.pool.query(
    `SELECT state, waiting_reason, EXISTS (SELECT 1 FROM holds h WHERE h.job_id = j.job_id AND amount > 0) AS has_hold
     FROM batch_jobs j WHERE job_id = $1`,
    [(await getJobRow(database.db.pool, ref.jobId)).key.uuid],
  );
  return rows[0];
}
