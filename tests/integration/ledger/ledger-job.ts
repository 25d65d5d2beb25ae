import { createDatabaseActivities } from '../../../activities/create-activities.ts';
import type { Database } from '../../../db/client.ts';
import { newId } from '../../../db/ids.ts';
import { getJobRow, type JobRow } from '../../../db/job-rows.ts';
import { clearStage, stageLines } from '../../../db/result-stage.ts';
import { getShard } from '../../../db/shards.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { itemStateCode } from '../../../domain/item-state.ts';
import type { JobKind } from '../../../domain/job-kind.ts';
import { type LedgerAct, ledgerEvent } from '../../../domain/ledger-entry.ts';
import { parseNumeric } from '../../../domain/money.ts';
import type { OveragePolicy } from '../../../domain/overage.ts';
import { createPriceBook, PUBLISHED_PRICES } from '../../../domain/price-book.ts';
import { priceUsage } from '../../../domain/pricing.ts';
import { closeJob } from '../../../ledger/close-job.ts';
import { type RefundResult, refundItem } from '../../../ledger/refund.ts';
import { settleStaged } from '../../../ledger/settle.ts';
import { runActivity, testDependencies } from '../../harness/activities.ts';
import { insertJob, insertTenant, type TestTenant } from '../../harness/jobs.ts';

export interface LedgerJob {
  readonly tenant: TestTenant;
  readonly job: JobRow;
  readonly providerBatchId: string;
}

export interface LedgerJobOptions {
  readonly kind?: JobKind;
  readonly items?: number;
  readonly policy?: OveragePolicy;
  /** Of each item, which decides what is held. */
  readonly outputTokens?: number;
  readonly tenant?: TestTenant;
}

/** A job that was accepted, of one shard whose one batch is at the provider. */
export async function runningLedgerJob(db: Database, options: LedgerJobOptions = {}): Promise<LedgerJob> {
  const { kind = 'batch', items = 1, policy = 'charge', outputTokens = 1 } = options;
  const tenant = options.tenant ?? (await insertTenant(db));
  await db.pool.query('UPDATE tenants SET overage_policy = $2 WHERE tenant_id = $1', [tenant.tenantId, policy]);
  const activities = createDatabaseActivities(testDependencies(db));
  const { jobId } = await insertJob(db, tenant, { kind, items, outputTokens });
  const { verdict } = await runActivity(activities.admitJob, { jobId, submissionNo: 1 });
  if (verdict !== 'accepted') throw new Error(`the job was ${verdict}`);
  await runActivity(activities.planShards, { jobId });
  await runActivity(activities.nextStep, { jobId, shard: 1 });
  const job = await getJobRow(db.pool, jobId);
  const providerBatchId = `batch_${newId('event')}`;
  await db.pool.query('UPDATE batch_provider_metadata SET provider_batch_id = $2 WHERE job_id = $1', [
    job.key.uuid,
    providerBatchId,
  ]);
  return { tenant, job, providerBatchId };
}

/** Settles one item by what it used, as a batch's result line would. Answers how many items settled: 0 for a replay. */
export async function settleItem(
  db: Database,
  { job }: LedgerJob,
  itemNo: number,
  tokens: { readonly input: number; readonly output: number },
): Promise<number> {
  const price = createPriceBook(PUBLISHED_PRICES).find('openai', 'gpt-4o-mini', new Date());
  if (price === null) throw new Error('the price book knows gpt-4o-mini');
  const usage = {
    inputTokens: tokens.input,
    cachedInputTokens: 0,
    cacheWriteTokens: 0,
    outputTokens: tokens.output,
    reasoningTokens: 0,
    estimated: false,
  };
  const line = {
    itemNo,
    rank: 0,
    file: 1,
    line: itemNo,
    state: itemStateCode('completed'),
    failureClass: '',
    errorCode: '',
    usage,
    amount: priceUsage(price, usage, job.priceMode),
    model: 'gpt-4o-mini',
    responseHash: null,
    body: '{}',
    errorMessage: null,
    nativeError: null,
  };
  const { rows } = await db.pool.query('SELECT attempt_no FROM batch_provider_metadata WHERE job_id = $1', [
    job.key.uuid,
  ]);
  const attemptNo: string = rows[0].attempt_no;
  await clearStage(db, attemptNo);
  await stageLines(db, attemptNo, [line]);
  const range = {
    job,
    shard: await getShard(db.pool, job.key, 1),
    attempt: 1,
    firstItemNo: itemNo,
    lastItemNo: itemNo,
  };
  return settleStaged(db, range, attemptNo, 1);
}

/** Settles its items each by the tokens given for it, and ends the job. */
export async function endedLedgerJob(
  db: Database,
  options: LedgerJobOptions,
  tokens: readonly { readonly input: number; readonly output: number }[],
): Promise<LedgerJob> {
  const of = await runningLedgerJob(db, { ...options, items: tokens.length });
  for (const [index, used] of tokens.entries()) await settleItem(db, of, index + 1, used);
  await closeJob(db, of.job.jobId, new Date());
  return { ...of, job: await getJobRow(db.pool, of.job.jobId) };
}

/** A refund of `row_<itemNo>`, in a transaction of its own under the job's lock. */
export async function refund(
  db: Database,
  { job }: LedgerJob,
  itemNo: number,
  amount: bigint | null = null,
): Promise<RefundResult> {
  const request = { customId: `row_${itemNo}`, amount, reason: 'goodwill', actor: 'key_operator' };
  return inTransaction(db, async (client) => {
    await client.query('SELECT 1 FROM batch_jobs WHERE job_id = $1 FOR NO KEY UPDATE', [job.key.uuid]);
    return refundItem(client, await getJobRow(client, job.jobId), request);
  });
}

/** The job's money as its rows have it, and as the entries of its ledger add up to. */
export async function readMoney(db: Database, { job, tenant }: LedgerJob) {
  const { rows } = await db.pool.query(
    `SELECT p.settled_amount AS settled, j.settled_amount AS job_settled, j.reserved_amount AS reserved, h.drawn, h.released,
       s.held AS budget_held, s.settled AS budget_settled,
       (SELECT coalesce(jsonb_object_agg(e.event, e.amount::text), '{}') FROM (
          SELECT event, sum(amount) AS amount FROM ledger_entries
          WHERE subject_id = j.job_id AND bucket = j.bucket AND account = 'tenant' GROUP BY event) e) AS entries
     FROM batch_jobs j JOIN job_progress p USING (job_id)
     JOIN holds h ON h.job_id = j.job_id AND h.scope = 'tenant' AND h.period = 'total'
     LEFT JOIN budget_periods s ON s.budget_id = $2
     WHERE j.job_id = $1`,
    [job.key.uuid, tenant.budgetId],
  );
  const [row] = rows;
  const entry = (act: LedgerAct): bigint => parseNumeric(row.entries[ledgerEvent(job.kind, act)] ?? '0');
  const [reserved, drawn] = [parseNumeric(row.reserved), parseNumeric(row.drawn)];
  return {
    reserved,
    settled: parseNumeric(row.settled),
    isEnded: row.released !== null,
    released: parseNumeric(row.released ?? '0'),
    held: row.released === null ? reserved - drawn : 0n,
    budgetHeld: parseNumeric(row.budget_held),
    budgetSettled: parseNumeric(row.budget_settled),
    entries: {
      reserved: entry('reserved'),
      charged: entry('item.settled') - entry('item.refunded') + entry('adjusted'),
      released: entry('released'),
      overage: entry('overage'),
    },
  };
}
