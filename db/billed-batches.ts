import type pg from 'pg';
import type { ChargedBatch } from '../domain/invoice.ts';
import type { JobKind } from '../domain/job-kind.ts';
import { isTerminal, type JobState } from '../domain/job-state.ts';
import { type Amount, parseNumeric } from '../domain/money.ts';
import { jobIdOf } from './ids.ts';

type Queryable = Pick<pg.ClientBase, 'query'>;

/** How a provider knows a batch. */
export interface ProviderBatchKey {
  readonly provider: string;
  readonly providerBatchId: string;
}

/** A provider batch of ours, with what the ledger charged for it. */
export interface BilledBatch extends ProviderBatchKey, ChargedBatch {
  /** The public id. */
  readonly jobId: string;
  readonly tenantId: string;
  readonly shard: number;
  readonly attempt: number;
  /** What was posted for it under the invoice asked for. */
  readonly posted: {
    readonly billed: Amount;
    readonly charged: Amount;
    readonly amount: Amount;
    readonly at: Date;
  } | null;
}

/** Those of the batches that are the gateway's, in the order given. */
export async function findBilledBatches(
  db: Queryable,
  keys: readonly ProviderBatchKey[],
  invoice: string,
): Promise<BilledBatch[]> {
  const { rows } = await db.query<BilledBatchRow>(SELECT_BILLED, [
    keys.map(({ provider }) => provider),
    keys.map(({ providerBatchId }) => providerBatchId),
    invoice,
  ]);
  return rows.map(toBilledBatch);
}

/** Outcomes are found by the shard's own range of items, so that a batch costs as much as it has items. */
const SELECT_BILLED = `
  SELECT b.provider, b.provider_batch_id, j.kind, b.job_id, b.shard, b.attempt, j.tenant_id, j.state, j.currency,
    coalesce(p.settled_amount, 0) AS job_charge, coalesce(outcomes.amount, 0) AS settled, coalesce(earlier.amount, 0) AS adjusted,
    posted.billed_amount AS posted_billed, posted.charged_amount AS posted_charged, posted.amount AS posted_amount,
    posted.created_at AS posted_at
  FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS wanted (provider, provider_batch_id, position)
  JOIN batch_provider_metadata b USING (provider, provider_batch_id)
  JOIN batch_jobs j ON j.job_id = b.job_id
  JOIN batch_shards s ON s.job_id = b.job_id AND s.shard = b.shard
  LEFT JOIN job_progress p ON p.job_id = b.job_id
  CROSS JOIN LATERAL (
    SELECT sum(o.amount) AS amount FROM item_outcomes o
    WHERE o.bucket = j.bucket AND o.job_id = b.job_id AND o.item_no BETWEEN s.first_item_no AND s.last_item_no
      AND o.shard = b.shard AND o.attempt = b.attempt
  ) outcomes
  CROSS JOIN LATERAL (
    SELECT sum(a.amount) AS amount FROM provider_adjustments a
    WHERE a.provider = b.provider AND a.provider_batch_id = b.provider_batch_id
  ) earlier
  LEFT JOIN provider_adjustments posted ON posted.provider = b.provider AND posted.provider_batch_id = b.provider_batch_id
    AND posted.invoice = $3
  ORDER BY wanted.position`;

interface BilledBatchRow {
  readonly provider: string;
  readonly provider_batch_id: string;
  readonly kind: JobKind;
  readonly job_id: string;
  readonly shard: number;
  readonly attempt: number;
  readonly tenant_id: string;
  readonly state: JobState;
  readonly currency: string;
  readonly job_charge: string;
  readonly settled: string;
  readonly adjusted: string;
  readonly posted_billed: string | null;
  readonly posted_charged: string | null;
  readonly posted_amount: string | null;
  readonly posted_at: Date | null;
}

function toBilledBatch(row: BilledBatchRow): BilledBatch {
  return {
    provider: row.provider,
    providerBatchId: row.provider_batch_id,
    jobId: jobIdOf({ kind: row.kind, uuid: row.job_id }),
    tenantId: row.tenant_id,
    shard: row.shard,
    attempt: row.attempt,
    currency: row.currency,
    jobHasEnded: isTerminal(row.state),
    charged: parseNumeric(row.settled) + parseNumeric(row.adjusted),
    jobCharge: parseNumeric(row.job_charge),
    posted: toPosted(row),
  };
}

function toPosted(row: BilledBatchRow): BilledBatch['posted'] {
  const { posted_billed: billed, posted_charged: charged, posted_amount: amount, posted_at: at } = row;
  if (billed === null || charged === null || amount === null || at === null) return null;
  return { billed: parseNumeric(billed), charged: parseNumeric(charged), amount: parseNumeric(amount), at };
}
