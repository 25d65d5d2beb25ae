import { createDatabaseActivities } from '../../../activities/create-activities.ts';
import type { Database } from '../../../db/client.ts';
import { getJobRow, type JobRow, lockJobRow } from '../../../db/job-rows.ts';
import { clearStage, type StagedLine, stageLines } from '../../../db/result-stage.ts';
import { getShard, moveShard } from '../../../db/shards.ts';
import { inTransaction } from '../../../db/transaction.ts';
import type { CloseReason } from '../../../domain/close-reason.ts';
import { type FailureCode, failureClassOf } from '../../../domain/failure.ts';
import { type ItemEndState, itemStateCode } from '../../../domain/item-state.ts';
import type { Amount } from '../../../domain/money.ts';
import { appendEntry } from '../../../ledger/entries.ts';
import { refundItem } from '../../../ledger/refund.ts';
import { settleStaged } from '../../../ledger/settle.ts';
import { runActivity, testDependencies } from '../../harness/activities.ts';
import { insertJob, type TestTenant } from '../../harness/jobs.ts';

export const SHARD_ITEMS = 4;

export interface PlayedLine {
  readonly itemNo: number;
  readonly state: ItemEndState;
  readonly code: FailureCode | null;
  /** Input, of it cached, of it written to a cache, and output with reasoning. */
  readonly tokens: readonly [number, number, number, number, number];
  readonly estimated: boolean;
  readonly amount: Amount;
  readonly customerAmount: Amount | null;
}

/** An accepted job of two shards with four items each, of which every third is a retry of some other item. */
export async function playedJob(
  db: Database,
  tenant: TestTenant,
  owner: { readonly projectId?: string; readonly customerId?: string; readonly customerEstimated?: string } = {},
): Promise<JobRow> {
  const activities = createDatabaseActivities(testDependencies(db));
  const draft = await insertJob(db, tenant, { items: 2 * SHARD_ITEMS, maxItemsPerShard: SHARD_ITEMS });
  await db.pool.query('UPDATE batch_jobs SET project_id = $2, customer_id = $3 WHERE job_id = $1', [
    draft.key.uuid,
    owner.projectId ?? null,
    owner.customerId ?? null,
  ]);
  await db.pool.query(
    'UPDATE batch_items SET retry_of_item_id = uuidv7(), item_attempt = 2 WHERE job_id = $1 AND item_no % 3 = 0',
    [draft.key.uuid],
  );
  await runActivity(activities.admitJob, { jobId: draft.jobId, submissionNo: 1 });
  await runActivity(activities.planShards, { jobId: draft.jobId });
  for (const shard of [1, 2]) await runActivity(activities.nextStep, { jobId: draft.jobId, shard });
  if (owner.customerEstimated !== undefined) {
    await db.pool.query(
      `UPDATE batch_jobs SET customer_pricing = '{"markup_percent":"50","prices":[]}', customer_estimated_amount = $2,
         customer_reserved_amount = $2 WHERE job_id = $1`,
      [draft.key.uuid, owner.customerEstimated],
    );
  }
  return getJobRow(db.pool, draft.jobId);
}

/** Settles the lines of a shard in two ranges, the later one first where asked; those that have an outcome keep it. */
export async function settleLines(
  db: Database,
  job: JobRow,
  shardNo: number,
  lines: readonly PlayedLine[],
  { reversed = false } = {},
): Promise<void> {
  const shard = await getShard(db.pool, job.key, shardNo);
  const { rows } = await db.pool.query(
    'SELECT attempt_no FROM batch_provider_metadata WHERE job_id = $1 AND shard = $2',
    [job.key.uuid, shardNo],
  );
  const attemptNo: string = rows[0].attempt_no;
  const own = lines.filter(({ itemNo }) => itemNo >= shard.firstItemNo && itemNo <= shard.lastItemNo);
  await clearStage(db, attemptNo);
  await stageLines(db, attemptNo, own.map(stagedLine));
  const middle = shard.firstItemNo + 1;
  const ranges = [
    { firstItemNo: shard.firstItemNo, lastItemNo: middle },
    { firstItemNo: middle + 1, lastItemNo: shard.lastItemNo },
  ];
  for (const range of reversed ? ranges.toReversed() : ranges) {
    const staged = own.filter(({ itemNo }) => itemNo >= range.firstItemNo && itemNo <= range.lastItemNo).length;
    await settleStaged(db, { job, shard, attempt: 1, ...range }, attemptNo, staged);
  }
}

function stagedLine(line: PlayedLine, index: number): StagedLine {
  const [inputTokens, cachedInputTokens, cacheWriteTokens, outputTokens, reasoningTokens] = line.tokens;
  return {
    itemNo: line.itemNo,
    rank: line.state === 'completed' ? 0 : 1,
    file: 1,
    line: index + 1,
    state: itemStateCode(line.state),
    failureClass: line.code === null ? '' : failureClassOf(line.code),
    errorCode: line.code ?? '',
    usage: {
      inputTokens,
      cachedInputTokens,
      cacheWriteTokens,
      outputTokens,
      reasoningTokens,
      estimated: line.estimated,
    },
    amount: line.amount,
    customerAmount: line.customerAmount,
    model: 'gpt-4o-mini-2024-07-18',
    responseHash: null,
    body: line.state === 'completed' ? '{}' : null,
    errorMessage: null,
    nativeError: null,
  };
}

export async function closeShard(db: Database, job: JobRow, shard: number, reason: CloseReason): Promise<void> {
  const activities = createDatabaseActivities(testDependencies(db));
  await runActivity(activities.closeShard, { jobId: job.jobId, shard, reason });
}

/** Moves a shard at a moment of its own. */
export async function moveAt(
  db: Database,
  job: JobRow,
  shard: number,
  state: Parameters<typeof moveShard>[3]['state'],
  now: Date,
): Promise<void> {
  await inTransaction(db, async (client) =>
    moveShard(client, await lockJobRow(client, job.jobId), shard, { state, now }),
  );
}

/** Takes something off the charge of a job as a whole, as the ledger has it; once. */
export async function adjust(db: Database, job: JobRow, amount: Amount): Promise<void> {
  await inTransaction(db, async (client) => {
    const locked = await lockJobRow(client, job.jobId);
    await client.query('SELECT FROM job_progress WHERE job_id = $1 FOR UPDATE', [job.key.uuid]);
    const entry = { itemNo: 0, act: 'adjusted' as const, ordinal: 7, amount, actor: 'key_test', cause: 'test' };
    await appendEntry(client, locked.key, entry);
  });
}

/** Gives back what an item was charged, where it was. */
export async function refund(db: Database, job: JobRow, itemNo: number): Promise<void> {
  await inTransaction(db, async (client) => {
    const locked = await lockJobRow(client, job.jobId);
    await refundItem(client, locked, { customId: `row_${itemNo}`, amount: null, reason: 'test', actor: 'key_test' });
  });
}
