import { createDatabaseActivities } from '../../activities/create-activities.ts';
import type { ActivityDependencies } from '../../activities/dependencies.ts';
import type { WavePlan } from '../../activities/interfaces.ts';
import { findLastAttempt } from '../../db/attempts.ts';
import type { Database } from '../../db/client.ts';
import { getJobRow, type JobRow } from '../../db/job-rows.ts';
import { clearStage, type StagedLine, stageLines } from '../../db/result-stage.ts';
import { listShards, type ShardRow } from '../../db/shards.ts';
import { type StoredRetryPolicy, toStoredRetryPolicy } from '../../db/stored-retry-policy.ts';
import type { CloseReason } from '../../domain/close-reason.ts';
import { type FailureCode, failure, failureClassOf } from '../../domain/failure.ts';
import { itemStateCode } from '../../domain/item-state.ts';
import { outcomeWithoutRun } from '../../domain/outcome.ts';
import { DEFAULT_RETRY_BACKOFF, type RetryPolicy, WAVE_CLASSES } from '../../domain/retry-policy.ts';
import { isShardOpen } from '../../domain/shard-state.ts';
import { settleStaged } from '../../ledger/settle.ts';
import { runActivity, testDependencies } from './activities.ts';
import { insertJob, insertTenant, type TestJobOptions, type TestTenant } from './jobs.ts';
import { chargeOf, replyLine } from './running-jobs.ts';

/** How an item ends in a test: with an answer, or by a code. */
export type TestEnd = 'completed' | FailureCode;

export interface RetryJobOptions extends TestJobOptions {
  readonly policy?: Partial<RetryPolicy>;
  readonly tenant?: TestTenant;
  /** Tokens that a failed item is billed for; none by default. */
  readonly billedFailures?: { readonly input: number; readonly output: number };
  readonly dependencies?: Partial<ActivityDependencies>;
}

const TOKENS = { input: 20, output: 50 };

/** A job with a retry policy whose shards end as the test says, without a workflow. */
export interface RetryJob {
  readonly jobId: string;
  readonly tenant: TestTenant;
  readonly stored: StoredRetryPolicy;
  row(): Promise<JobRow>;
  /** Ends every open shard; what an item ends as is asked by its custom id and which try of it it is. */
  settle(endOf: (customId: string, attempt: number) => TestEnd): Promise<void>;
  openShards(): Promise<ShardRow[]>;
  plan(): Promise<WavePlan>;
  start(wave: number): Promise<{ started: boolean }>;
  cancel(): Promise<void>;
  reconcile(): Promise<string>;
  /** Items in the order of their numbers. */
  items(): Promise<TestItem[]>;
  counts(): Promise<TestCounts>;
}

export interface TestItem {
  readonly item_no: number;
  readonly item_id: string;
  readonly custom_id: string;
  readonly item_attempt: number;
  readonly retry_of_item_id: string | null;
  readonly retry_of_item_no: number | null;
  readonly retried_by_item_id: string | null;
  readonly state: number;
  readonly error_code: string;
  readonly body: string;
}

export interface TestCounts {
  readonly completed: number;
  readonly failed: number;
  readonly expired: number;
  readonly cancelled: number;
  readonly retries: number;
  readonly failures: Readonly<Record<string, number>>;
}

export async function startRetryJob(db: Database, options: RetryJobOptions = {}): Promise<RetryJob> {
  const tenant = options.tenant ?? (await insertTenant(db));
  const policy = { maxAttempts: 3, classes: WAVE_CLASSES, backoff: DEFAULT_RETRY_BACKOFF, ...options.policy };
  const stored = toStoredRetryPolicy(policy);
  const activities = createDatabaseActivities(testDependencies(db, options.dependencies));
  const { jobId, key } = await insertJob(db, tenant, options);
  await db.pool.query('UPDATE batch_jobs SET retry_policy = $2 WHERE job_id = $1', [key.uuid, JSON.stringify(stored)]);
  const { verdict } = await runActivity(activities.admitJob, { jobId, submissionNo: 1 });
  if (verdict !== 'accepted') throw new Error(`the job was ${verdict}`);
  await runActivity(activities.planShards, { jobId });
  const row = () => getJobRow(db.pool, jobId);
  const openShards = async () => (await listShards(db.pool, key)).filter(({ state }) => isShardOpen(state));
  return {
    jobId,
    tenant,
    stored,
    row,
    openShards,
    settle: async (endOf) => {
      for (const shard of await openShards()) {
        await runActivity(activities.nextStep, { jobId, shard: shard.shard });
        await settleShard(db, await row(), shard, { endOf, billed: options.billedFailures ?? { input: 0, output: 0 } });
        await runActivity(activities.closeShard, {
          jobId,
          shard: shard.shard,
          reason: 'batch_completed' as CloseReason,
        });
      }
    },
    plan: () => runActivity(activities.planWave, { jobId }),
    start: (wave) => runActivity(activities.startWave, { jobId, wave }),
    cancel: () => runActivity(activities.recordCancel, { jobId, by: 'test', reason: null }),
    reconcile: async () => (await runActivity(activities.reconcileJob, { jobId })).state,
    items: async () => {
      const { rows } = await db.pool.query<TestItem>(
        `SELECT i.item_no, i.item_id, i.custom_id, i.item_attempt, i.retry_of_item_id, i.retry_of_item_no, i.retried_by_item_id, i.state,
           i.error_code, r.body
         FROM batch_items i JOIN item_requests r USING (bucket, job_id, item_no) WHERE i.job_id = $1 ORDER BY i.item_no`,
        [key.uuid],
      );
      return rows;
    },
    counts: async () => {
      const { rows } = await db.pool.query<TestCounts>(
        'SELECT completed, failed, expired, cancelled, retries, failures FROM job_progress WHERE job_id = $1',
        [key.uuid],
      );
      if (rows[0] === undefined) throw new Error('a submitted job has a progress row');
      return rows[0];
    },
  };
}

interface Ending {
  readonly endOf: (customId: string, attempt: number) => TestEnd;
  readonly billed: { readonly input: number; readonly output: number };
}

async function settleShard(db: Database, job: JobRow, shard: ShardRow, { endOf, billed }: Ending): Promise<void> {
  const attempt = await findLastAttempt(db.pool, job.key, shard.shard);
  if (attempt === null) throw new Error('no attempt was begun');
  const { rows } = await db.pool.query<{ item_no: number; custom_id: string; item_attempt: number }>(
    'SELECT item_no, custom_id, item_attempt FROM batch_items WHERE job_id = $1 AND item_no BETWEEN $2 AND $3',
    [job.key.uuid, shard.firstItemNo, shard.lastItemNo],
  );
  const lines = rows.map((item, index) => {
    const end = endOf(item.custom_id, item.item_attempt);
    return end === 'completed' ? replyLine(item.item_no, index, TOKENS) : failedLine(item.item_no, index, end, billed);
  });
  await clearStage(db, attempt.attemptNo);
  await stageLines(db, attempt.attemptNo, lines);
  const { firstItemNo, lastItemNo } = shard;
  const range = { job, shard, attempt: attempt.attempt, firstItemNo, lastItemNo };
  await settleStaged(db, range, attempt.attemptNo, lines.length);
}

function failedLine(itemNo: number, line: number, code: FailureCode, billed: Ending['billed']): StagedLine {
  const { status } = outcomeWithoutRun(failure(code, ''));
  const reply = replyLine(itemNo, line, billed);
  const failed = { rank: 1, file: 2, failureClass: failureClassOf(code), errorCode: code, body: null };
  return { ...reply, ...failed, state: itemStateCode(status), amount: chargeOf(billed), errorMessage: 'failed' };
}
