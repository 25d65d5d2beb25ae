import type { Database } from '../../db/client.ts';
import { findJobPricing } from '../../db/customer-pricing.ts';
import type { JobRow } from '../../db/job-rows.ts';
import { readEstimates } from '../../db/open-items.ts';
import type { StagedLine } from '../../db/result-stage.ts';
import type { ShardRow } from '../../db/shards.ts';
import type { TargetPrice } from '../../db/target-prices.ts';
import { TASK_ITEM_NO } from '../../db/task-attempts.ts';
import { customerAmount } from '../../domain/customer-pricing.ts';
import { type FailureCode, failureClassOf } from '../../domain/failure.ts';
import { itemStateCode } from '../../domain/item-state.ts';
import type { Amount } from '../../domain/money.ts';
import { priceUsage } from '../../domain/pricing.ts';
import { keepsContent } from '../../domain/storage-terms.ts';
import { taskErrorCode, taskErrorMessage } from '../../domain/task-attempt.ts';
import { addUsage, type Usage, ZERO_USAGE } from '../../domain/usage.ts';
import type { DirectAnswer } from '../../providers/provider.ts';
import { itemsWithoutUsage, type MatchedLine, toStagedLine } from '../read-results.ts';

/** An item whose request is sent by itself. */
export interface DirectItem {
  readonly job: JobRow;
  readonly shard: ShardRow;
  readonly target: TargetPrice;
  readonly itemNo: number;
}

/** A direct answer in the form it settles in: priced by its own usage and tier, as a line of a batch is. */
export async function lineOfAnswer(
  db: Database,
  { job, shard, target, itemNo }: DirectItem,
  answer: DirectAnswer,
): Promise<StagedLine> {
  const line: MatchedLine = { itemNo, line: 1, result: answer, isReadable: true };
  const missing = itemsWithoutUsage([line]);
  const estimates = missing.length === 0 ? null : await readEstimates(db.pool, job.key, missing, target.heldReplies);
  const priceForCustomer = await pricesForCustomer(db, { job, shard });
  return toStagedLine(line, 1, {
    price: target.price,
    priceMode: job.priceMode,
    model: shard.providerModel,
    estimate: estimates?.get(itemNo),
    priceForCustomer,
    keepsContent: keepsContent(job.terms.storage),
  });
}

/** The same line with what an earlier request for the item used besides, and priced by both together. */
export async function withEarlierUsage(
  db: Database,
  { job, shard, target }: DirectItem,
  line: StagedLine,
  earlier: Usage,
): Promise<StagedLine> {
  const usage = addUsage(line.usage, earlier);
  const amount = priceUsage(target.price, usage, job.priceMode);
  const priceForCustomer = await pricesForCustomer(db, { job, shard });
  return { ...line, usage, amount, customerAmount: priceForCustomer?.(usage, amount) ?? null };
}

async function pricesForCustomer(
  db: Database,
  { job, shard }: Pick<DirectItem, 'job' | 'shard'>,
): Promise<((usage: Usage, amount: Amount) => Amount) | null> {
  const pricing = job.customerId === null ? null : await findJobPricing(db.pool, job.key);
  if (pricing === null) return null;
  const priced = { provider: shard.provider, model: shard.providerModel };
  return (usage, amount) => customerAmount(pricing, priced, { usage, amount, mode: job.priceMode });
}

/** How a task ends that no provider has billed: free of charge. `message` is null for the usual one. */
export function taskFailure(shard: ShardRow, code: FailureCode, message: string | null): StagedLine {
  return lineOfFailure(shard, {
    itemNo: TASK_ITEM_NO,
    code,
    message: message ?? taskErrorMessage(taskErrorCode(code)),
  });
}

/** How an item ends that no provider has billed: free of charge. */
export function lineOfFailure(
  { providerModel }: ShardRow,
  { itemNo, code, message }: { readonly itemNo: number; readonly code: FailureCode; readonly message: string },
): StagedLine {
  return {
    itemNo,
    rank: 1,
    file: 1,
    line: 1,
    state: itemStateCode(code === 'job_cancelled' ? 'cancelled' : 'failed'),
    failureClass: failureClassOf(code),
    errorCode: code,
    usage: ZERO_USAGE,
    amount: 0n,
    customerAmount: null,
    model: providerModel,
    responseHash: null,
    body: null,
    errorMessage: message,
    nativeError: null,
  };
}
