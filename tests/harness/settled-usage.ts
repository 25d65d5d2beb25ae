import { createDatabaseActivities } from '../../activities/create-activities.ts';
import type { Database } from '../../db/client.ts';
import { findJobPricing } from '../../db/customer-pricing.ts';
import { getJobRow } from '../../db/job-rows.ts';
import { stageLines } from '../../db/result-stage.ts';
import { getShard } from '../../db/shards.ts';
import { loadTargetPrices } from '../../db/target-prices.ts';
import { customerAmount } from '../../domain/customer-pricing.ts';
import { itemStateCode } from '../../domain/item-state.ts';
import { priceUsage } from '../../domain/pricing.ts';
import { ZERO_USAGE } from '../../domain/usage.ts';
import { settleStaged } from '../../ledger/settle.ts';
import { runActivity, testDependencies } from './activities.ts';

/** Brings an accepted job of one shard to its end, each item with the given usage, priced and settled as a worker does. */
export async function settleUsages(
  db: Database,
  jobId: string,
  usages: readonly { readonly inputTokens: number; readonly outputTokens: number }[],
): Promise<void> {
  const activities = createDatabaseActivities(testDependencies(db));
  await runActivity(activities.planShards, { jobId });
  await runActivity(activities.nextStep, { jobId, shard: 1 });
  const job = await getJobRow(db.pool, jobId);
  const shard = await getShard(db.pool, job.key, 1);
  const { price } = (await loadTargetPrices(db.pool, { ...job, uuid: job.key.uuid }))(shard);
  const pricing = await findJobPricing(db.pool, job.key);
  const target = { provider: shard.provider, model: shard.providerModel };
  const { rows } = await db.pool.query<{ attempt_no: string }>(
    'SELECT attempt_no FROM batch_provider_metadata WHERE job_id = $1',
    [job.key.uuid],
  );
  const attemptNo = rows[0]?.attempt_no ?? '';
  const lines = usages.map((given, index) => {
    const usage = { ...ZERO_USAGE, ...given };
    const amount = priceUsage(price, usage, job.priceMode);
    return {
      itemNo: index + 1,
      rank: 0,
      file: 1,
      line: index + 1,
      state: itemStateCode('completed'),
      failureClass: '',
      errorCode: '',
      usage,
      amount,
      customerAmount: pricing === null ? null : customerAmount(pricing, target, { usage, amount, mode: job.priceMode }),
      model: shard.providerModel,
      responseHash: null,
      body: '{}',
      errorMessage: null,
      nativeError: null,
    };
  });
  await stageLines(db, attemptNo, lines);
  const range = { job, shard, attempt: 1, firstItemNo: shard.firstItemNo, lastItemNo: shard.lastItemNo };
  await settleStaged(db, range, attemptNo, lines.length);
  await runActivity(activities.reconcileJob, { jobId });
}
