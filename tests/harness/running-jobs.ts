import { createDatabaseActivities } from '../../activities/create-activities.ts';
import type { ActivityDependencies } from '../../activities/dependencies.ts';
import type { Database } from '../../db/client.ts';
import { getJobRow } from '../../db/job-rows.ts';
import { clearStage, type StagedLine, stageLines } from '../../db/result-stage.ts';
import { getShard } from '../../db/shards.ts';
import type { CloseReason } from '../../domain/close-reason.ts';
import { itemStateCode } from '../../domain/item-state.ts';
import type { Amount } from '../../domain/money.ts';
import { createPriceBook, PUBLISHED_PRICES } from '../../domain/price-book.ts';
import { priceUsage } from '../../domain/pricing.ts';
import { settleStaged } from '../../ledger/settle.ts';
import { runActivity, testDependencies } from './activities.ts';

const MODEL = 'gpt-4o-mini';
const price = createPriceBook(PUBLISHED_PRICES).find('openai', MODEL, new Date());

/** What a reply of the tests' model costs in a batch. */
export function chargeOf(tokens: { readonly input: number; readonly output: number }): Amount {
  if (price === null) throw new Error(`the price book does not know ${MODEL}`);
  return priceUsage(price, usageOf(tokens), 'batch');
}

function usageOf({ input, output }: { readonly input: number; readonly output: number }) {
  return {
    inputTokens: input,
    cachedInputTokens: 0,
    cacheWriteTokens: 0,
    outputTokens: output,
    reasoningTokens: 0,
    estimated: false,
  };
}

/** A line of a result file, decoded and priced: the reply of one item. */
export function replyLine(
  itemNo: number,
  line: number,
  tokens: { readonly input: number; readonly output: number },
): StagedLine {
  return {
    itemNo,
    rank: 0,
    file: 1,
    line,
    state: itemStateCode('completed'),
    failureClass: '',
    errorCode: '',
    usage: usageOf(tokens),
    amount: chargeOf(tokens),
    model: MODEL,
    responseHash: null,
    body: '{}',
    errorMessage: null,
    nativeError: null,
  };
}

/** Jobs of one shard, moved by their activities without a workflow. */
export interface RunningJobs {
  /** Plans an accepted job and begins its one attempt. */
  start(jobId: string): Promise<void>;
  /** Settles lines as one reading of the result file, by as many workers at once. Answers how many items that settled. */
  settle(jobId: string, lines: readonly StagedLine[], workers?: number): Promise<number>;
  /** Ends what has no outcome in one way, and the job. */
  finish(jobId: string, reason: CloseReason): Promise<void>;
}

export function runningJobs(db: Database, overrides: Partial<ActivityDependencies> = {}): RunningJobs {
  const activities = createDatabaseActivities(testDependencies(db, overrides));
  return {
    start: async (jobId) => {
      await runActivity(activities.planShards, { jobId });
      await runActivity(activities.nextStep, { jobId, shard: 1 });
    },
    settle: async (jobId, lines, workers = 1) => {
      const job = await getJobRow(db.pool, jobId);
      const shard = await getShard(db.pool, job.key, 1);
      const { rows } = await db.pool.query('SELECT attempt_no FROM batch_provider_metadata WHERE job_id = $1', [
        job.key.uuid,
      ]);
      const attemptNo: string = rows[0].attempt_no;
      await clearStage(db, attemptNo);
      await stageLines(db, attemptNo, lines);
      const { firstItemNo, lastItemNo } = shard;
      const range = { job, shard, attempt: 1, firstItemNo, lastItemNo };
      const settled = await Promise.all(
        Array.from({ length: workers }, () => settleStaged(db, range, attemptNo, lines.length)),
      );
      return settled.reduce((sum, count) => sum + count, 0);
    },
    finish: async (jobId, reason) => {
      await runActivity(activities.closeShard, { jobId, shard: 1, reason });
      await runActivity(activities.reconcileJob, { jobId });
    },
  };
}
