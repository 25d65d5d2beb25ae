import { afterAll, beforeAll, expect, test } from 'vitest';
import { listEvents } from '../../../db/events.ts';
import { itemStateCode } from '../../../domain/item-state.ts';
import { closeJob } from '../../../ledger/close-job.ts';
import { verifyLedger } from '../../../ledger/verify.ts';
import { createTestDatabase, type TestDatabase } from '../../harness/postgres.ts';
import { type RetryJob, type RetryJobOptions, startRetryJob, type TestEnd } from '../../harness/retry-jobs.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/** The clock of every job here, which a test may move. */
let now = new Date('2026-11-15T12:00:00Z');
/** A minute, and a tenth of it as jitter. */
const FIRST_DELAY_MS = 66_000;

function startJob(options: RetryJobOptions = {}): Promise<RetryJob> {
  return startRetryJob(database.db, { items: 6, dependencies: { now: () => now }, ...options });
}

/** Rows 2, 4 and 6 fail so often by this code; everything else completes. */
const evenRowsFail =
  (code: TestEnd, times = 1) =>
  (customId: string, attempt: number): TestEnd =>
    Number(customId.slice('row_'.length)) % 2 === 0 && attempt <= times ? code : 'completed';

async function shown(job: RetryJob) {
  const { key } = await job.row();
  const { rows } = await database.db.pool.query(
    `SELECT state, waiting_reason, waiting_since, (SELECT warnings FROM job_progress p WHERE p.job_id = j.job_id) AS warnings
     FROM batch_jobs j WHERE job_id = $1`,
    [key.uuid],
  );
  return rows[0];
}

async function expectSound(job: RetryJob): Promise<void> {
  expect((await verifyLedger(database.db, { jobId: job.jobId })).differences).toEqual([]);
}

test('items that failed are tried again after the wait, linked both ways, and count once', async () => {
  const job = await startJob();
  await job.settle(evenRowsFail('provider_server_error'));
  expect(await job.counts()).toMatchObject({
    completed: 3,
    failed: 3,
    retries: 0,
    failures: { provider_server_error: 3 },
  });
  expect(await job.plan()).toEqual({ kind: 'wave', wave: 2, items: 3, delayMs: FIRST_DELAY_MS });
  expect(await shown(job)).toMatchObject({ state: 'running', waiting_reason: 'retry_backoff', waiting_since: now });

  expect(await job.start(2)).toEqual({ started: true });
  expect(await shown(job)).toMatchObject({ state: 'running', waiting_reason: null });
  const items = await job.items();
  expect(items.map((item) => [item.item_no, item.custom_id, item.item_attempt, item.retry_of_item_no])).toEqual([
    ...[1, 2, 3, 4, 5, 6].map((no) => [no, `row_${no}`, 1, null]),
    [7, 'row_2', 2, 2],
    [8, 'row_4', 2, 4],
    [9, 'row_6', 2, 6],
  ]);
  for (const retry of items.slice(6)) {
    const original = items.find((item) => item.item_no === retry.retry_of_item_no);
    expect(retry).toMatchObject({
      retry_of_item_id: original?.item_id,
      retried_by_item_id: null,
      body: original?.body,
    });
    expect(original).toMatchObject({ retried_by_item_id: retry.item_id, state: itemStateCode('failed') });
  }
  expect(await job.openShards()).toMatchObject([{ shard: 2, firstItemNo: 7, lastItemNo: 9, itemCount: 3 }]);
  await expectSound(job);

  await job.settle(evenRowsFail('provider_server_error'));
  expect(await job.counts()).toEqual({ completed: 6, failed: 0, expired: 0, cancelled: 0, retries: 3, failures: {} });
  expect(await job.plan()).toEqual({ kind: 'none' });
  expect(await job.reconcile()).toBe('completed');
  await expectSound(job);
  const { key } = await job.row();
  const events = await listEvents(database.db.pool, key.uuid, 0);
  expect(events.map(({ type, data }) => [type, data])).toEqual([
    ['batch_job.retry_wave_started', { job_id: job.jobId, wave: 2, items: 3 }],
    ['batch_job.completed', expect.objectContaining({ job_id: job.jobId, status: 'completed' })],
  ]);
});

test('a wave that is planned again keeps its time', async () => {
  const job = await startJob();
  await job.settle(evenRowsFail('rate_limited'));
  const planned = now;
  await job.plan();
  now = new Date(planned.getTime() + 60_000);
  expect(await job.plan()).toEqual({ kind: 'wave', wave: 2, items: 3, delayMs: FIRST_DELAY_MS - 60_000 });
  now = new Date(planned.getTime() + 600_000);
  expect(await job.plan()).toEqual({ kind: 'wave', wave: 2, items: 3, delayMs: 0 });
  expect(await shown(job)).toMatchObject({ waiting_since: planned });
});

test('begun twice, one after the other or at once, a wave is one set of items', async () => {
  const job = await startJob({ maxItemsPerShard: 2 });
  await job.settle(evenRowsFail('malformed_result'));
  await job.plan();
  const begun = await Promise.all([job.start(2), job.start(2), job.start(2)]);
  expect(begun).toEqual([{ started: true }, { started: true }, { started: true }]);
  expect(await job.start(2)).toEqual({ started: true });
  expect((await job.items()).slice(6).map(({ custom_id: id }) => id)).toEqual(['row_2', 'row_4', 'row_6']);
  expect((await job.openShards()).map((shard) => [shard.shard, shard.firstItemNo, shard.lastItemNo])).toEqual([
    [4, 7, 8],
    [5, 9, 9],
  ]);
});

test('a wave that was never planned is not begun', async () => {
  const job = await startJob();
  await job.settle(evenRowsFail('rate_limited'));
  expect(await job.start(2)).toEqual({ started: false });
  expect(await job.items()).toHaveLength(6);
});

test('after a cancel nothing is planned, and what was planned is not sent', async () => {
  const cancelledBefore = await startJob();
  await cancelledBefore.settle(evenRowsFail('rate_limited'));
  await cancelledBefore.cancel();
  expect(await cancelledBefore.plan()).toEqual({ kind: 'none' });

  const job = await startJob();
  await job.settle(evenRowsFail('rate_limited'));
  await job.plan();
  await job.cancel();
  expect(await job.start(2)).toEqual({ started: false });
  expect(await job.start(2)).toEqual({ started: false });
  expect(await job.items()).toHaveLength(6);
  expect(await shown(job)).toMatchObject({ state: 'cancel_requested', waiting_reason: null });
  expect(await job.reconcile()).toBe('completed_with_errors');
  await expectSound(job);
});

test('a cancel and the beginning of a wave at once leave either all of its items or none', async () => {
  for (let round = 0; round < 5; round += 1) {
    const job = await startJob();
    await job.settle(evenRowsFail('rate_limited'));
    await job.plan();
    const [{ started }] = await Promise.all([job.start(2), job.cancel()]);
    expect(await job.items()).toHaveLength(started ? 9 : 6);
    expect(await job.openShards()).toHaveLength(started ? 1 : 0);
  }
});

test('nothing is sent again at or after the deadline of the job', async () => {
  const job = await startJob();
  await job.settle(evenRowsFail('rate_limited'));
  const { key } = await job.row();
  const setDeadline = (inMs: number) =>
    database.db.pool.query('UPDATE batch_jobs SET deadline = $2 WHERE job_id = $1', [
      key.uuid,
      new Date(now.getTime() + inMs),
    ]);
  await setDeadline(FIRST_DELAY_MS);
  expect(await job.plan()).toEqual({ kind: 'none' });
  await setDeadline(FIRST_DELAY_MS + 1);
  expect(await job.plan()).toMatchObject({ kind: 'wave' });
  await setDeadline(0);
  expect(await job.start(2)).toEqual({ started: false });
});

test('a wave that what is left of the hold does not cover is skipped, once, and the job says so', async () => {
  const job = await startJob({ billedFailures: { input: 20, output: 100 } });
  await job.settle(() => 'malformed_result');
  expect(await job.plan()).toEqual({ kind: 'none' });
  expect(await job.plan()).toEqual({ kind: 'none' });
  const { state, waiting_reason: reason, warnings } = await shown(job);
  expect({ state, reason }).toEqual({ state: 'finalizing', reason: null });
  // 6 × (20 × 0.075 + 100 × 0.3) micro-dollars, and a tenth more held; what was billed is as much as was estimated.
  expect(warnings).toMatchObject([{ code: 'retry_wave_skipped', wave: 2, needed: '0.0002079', left: '0.0000189' }]);
  expect(await job.start(2)).toEqual({ started: false });
  expect(await job.reconcile()).toBe('failed');
  await expectSound(job);
  const { key } = await job.row();
  const events = await listEvents(database.db.pool, key.uuid, 0);
  expect(events[0]).toMatchObject({ type: 'batch_job.retry_wave_skipped', data: { wave: 2, items: 6 } });
});

test('every try that is billed is charged to the hold, and a wave is skipped once it is too small', async () => {
  const job = await startJob({ items: 10, billedFailures: { input: 20, output: 100 }, policy: { maxAttempts: 10 } });
  await job.settle((customId) => (customId === 'row_1' ? 'malformed_result' : 'provider_server_error'));
  // What failed has cost all of its estimate, so a tenth of it is left: the retries of one item, but not of ten.
  expect(await job.plan()).toEqual({ kind: 'none' });
  expect(await shown(job)).toMatchObject({ warnings: [{ code: 'retry_wave_skipped' }] });

  const one = await startJob({ items: 10, billedFailures: { input: 20, output: 100 }, policy: { maxAttempts: 10 } });
  await one.settle((customId) => (customId === 'row_1' ? 'malformed_result' : 'completed'));
  expect(await one.plan()).toMatchObject({ kind: 'wave', items: 1 });
  await one.start(2);
  await one.settle(() => 'malformed_result');
  await expectSound(one);
});

test.each<[string, RetryJobOptions['policy'], TestEnd]>([
  ['a class that the policy leaves out', { classes: ['rate_limited'] }, 'provider_server_error'],
  ['a policy of one try', { maxAttempts: 1 }, 'provider_server_error'],
  ['a lost batch', {}, 'provider_lost'],
  ['an account out of credit', {}, 'provider_account_exhausted'],
  ['an item that expired', {}, 'batch_expired'],
  ['an item that was cancelled', {}, 'provider_cancelled'],
  ['a request that cannot be right', {}, 'invalid_request'],
  ['an answer that was blocked', {}, 'safety_blocked'],
])('nothing is tried again of %s', async (_what, policy, code) => {
  const job = await startJob({ ...(policy && { policy }) });
  await job.settle(evenRowsFail(code));
  expect(await job.plan()).toEqual({ kind: 'none' });
  await job.reconcile();
  await expectSound(job);
});

test('an item is tried as often as the policy says, and counts by its last try', async () => {
  const job = await startJob({ policy: { maxAttempts: 3 } });
  const ends: Record<string, TestEnd[]> = {
    row_2: ['rate_limited', 'provider_timeout', 'missing_result'],
    row_4: ['rate_limited', 'batch_expired'],
    row_6: ['rate_limited', 'invalid_request'],
  };
  const endOf = (customId: string, attempt: number): TestEnd => ends[customId]?.[attempt - 1] ?? 'completed';
  await job.settle(endOf);
  expect(await job.plan()).toMatchObject({ wave: 2, items: 3 });
  await job.start(2);
  await job.settle(endOf);
  expect(await job.counts()).toMatchObject({
    ...{ completed: 3, failed: 2, expired: 1, retries: 3 },
    failures: { provider_timeout: 1, batch_expired: 1, invalid_request: 1 },
  });
  expect(await job.plan()).toMatchObject({ wave: 3, items: 1, delayMs: 2 * FIRST_DELAY_MS });
  await job.start(3);
  expect((await job.items()).at(-1)).toMatchObject({
    item_no: 10,
    custom_id: 'row_2',
    item_attempt: 3,
    retry_of_item_no: 7,
  });
  await job.settle(endOf);
  expect(await job.plan()).toEqual({ kind: 'none' });
  expect(await job.counts()).toMatchObject({ failed: 2, retries: 4, failures: { missing_result: 1 } });
  expect(await job.reconcile()).toBe('expired');
  await expectSound(job);
});

test('a job does not end while a retry of its own is open', async () => {
  const job = await startJob();
  await job.settle(evenRowsFail('rate_limited'));
  await job.plan();
  await job.start(2);
  const closed = await closeJob(database.db, job.jobId, now);
  expect(closed).toEqual({ state: 'running', itemsWithoutOutcome: 3 });
});

test('tries in another job, which a retry by hand goes on from, do not count', async () => {
  const job = await startJob({ policy: { maxAttempts: 2 } });
  const { key } = await job.row();
  await database.db.pool.query('UPDATE batch_items SET item_attempt = item_no + 1 WHERE job_id = $1', [key.uuid]);
  await job.settle(() => 'rate_limited');
  expect(await job.plan()).toMatchObject({ wave: 2, items: 6 });
  await job.start(2);
  expect((await job.items()).slice(6).map((item) => item.item_attempt)).toEqual([3, 4, 5, 6, 7, 8]);
  await job.settle(() => 'rate_limited');
  expect(await job.plan()).toEqual({ kind: 'none' });
  await expectSound(job);
});

test('what somebody took into a job of their own is not tried again here', async () => {
  const job = await startJob();
  await job.settle(evenRowsFail('rate_limited'));
  const { key } = await job.row();
  await database.db.pool.query(
    "UPDATE batch_items SET retried_by_item_id = uuidv7() WHERE job_id = $1 AND custom_id = 'row_4'",
    [key.uuid],
  );
  expect(await job.plan()).toMatchObject({ items: 2 });
  await job.start(2);
  expect((await job.items()).slice(6).map(({ custom_id: id }) => id)).toEqual(['row_2', 'row_6']);
});

test('retries of several models are cut into shards of one model each', async () => {
  const job = await startJob();
  const { key } = await job.row();
  await database.db.pool.query(
    `UPDATE job_submissions SET quote = jsonb_set(quote, '{targets}', quote -> 'targets' || jsonb_build_array(
       jsonb_set(quote -> 'targets' -> 0, '{requested_model}', '"openai/gpt-4o-mini"'))) WHERE job_id = $1`,
    [key.uuid],
  );
  await job.settle(() => 'rate_limited');
  await database.db.pool.query(
    "UPDATE batch_items SET requested_model = 'openai/gpt-4o-mini' WHERE job_id = $1 AND item_no % 2 = 1",
    [key.uuid],
  );
  await job.plan();
  await job.start(2);
  const shards = await job.openShards();
  expect(shards.map((shard) => [shard.requestedModel, shard.firstItemNo, shard.lastItemNo, shard.itemCount])).toEqual([
    ['', 8, 12, 3],
    ['openai/gpt-4o-mini', 7, 11, 3],
  ]);
});
