import type pg from 'pg';
import { type BilledBatch, findBilledBatches, type ProviderBatchKey } from '../db/billed-batches.ts';
import type { JobRow } from '../db/job-rows.ts';
import { lockProgressRow } from '../db/job-settlement.ts';
import { type BilledAmount, judgeBilled } from '../domain/invoice.ts';
import { type Amount, formatNumeric } from '../domain/money.ts';
import { appendEntry, type LedgerAccount } from './entries.ts';
import { appendCorrections, recharge } from './recharge.ts';

/** Of a job's own numbers, below, none is as large: entries of an invoice never meet those of the job's end. */
const FIRST_ORDINAL = 1_000_001;

export interface AdjustmentRequest extends ProviderBatchKey, BilledAmount {
  /** The provider's reference. */
  readonly invoice: string;
  /** Whether the tenant is charged the difference, or the gateway bears it. */
  readonly account: LedgerAccount;
  /** The key's id. */
  readonly actor: string;
}

/**
 * Posts what an invoice bills for a batch beyond or below what the ledger charged for it, once for a batch and invoice.
 * Only the account `tenant` changes what the job's tenant is charged. The job's row must be locked. False where nothing
 * was posted: it had been, or there is nothing that may be.
 */
export async function postAdjustment(client: pg.PoolClient, job: JobRow, request: AdjustmentRequest): Promise<boolean> {
  const before = await lockProgressRow(client, job.key);
  const [batch] = await findBilledBatches(client, [request], request.invoice);
  if (before === null || batch === undefined || batch.jobId !== job.jobId || batch.posted !== null) return false;
  const chargesTenant = request.account === 'tenant';
  const { verdict, difference } = judgeBilled(request, batch, { chargesTenant });
  if (verdict !== 'differs') return false;
  const ordinal = await insertAdjustment(client, job, batch, request, difference);
  const { account, actor } = request;
  const entry = {
    itemNo: 0,
    ordinal,
    actor,
    cause: `invoice ${request.invoice}, shard ${batch.shard}.${batch.attempt}`,
  };
  await appendEntry(client, job.key, { ...entry, act: 'adjusted', amount: difference, account });
  if (!chargesTenant) return true;
  const change = { before, after: before + difference };
  await recharge(client, job, change);
  await appendCorrections(client, job, entry, change);
  return true;
}

async function insertAdjustment(
  client: pg.PoolClient,
  job: JobRow,
  batch: BilledBatch,
  { invoice, billed, account, actor }: AdjustmentRequest,
  difference: Amount,
): Promise<number> {
  const { rows } = await client.query<{ ordinal: number }>(
    `INSERT INTO provider_adjustments (provider, provider_batch_id, invoice, job_id, shard, attempt, ordinal,
       billed_amount, charged_amount, amount, currency, account, actor)
     SELECT $1, $2, $3, $4, $5, $6, coalesce(max(ordinal) + 1, ${FIRST_ORDINAL}), $7, $8, $9, $10, $11, $12
     FROM provider_adjustments WHERE job_id = $4
     RETURNING ordinal`,
    [
      batch.provider,
      batch.providerBatchId,
      invoice,
      job.key.uuid,
      batch.shard,
      batch.attempt,
      formatNumeric(billed),
      formatNumeric(batch.charged),
      formatNumeric(difference),
      job.currency,
      account,
      actor,
    ],
  );
  if (rows[0] === undefined) throw new Error('an insert returned no row');
  return rows[0].ordinal;
}
