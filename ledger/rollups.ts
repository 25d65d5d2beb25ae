import type pg from 'pg';
import type { JobKey } from '../db/job-rows.ts';
import { namesOf } from '../db/ledger-names.ts';
import type { LedgerAct, LedgerEvent } from '../domain/ledger-entry.ts';
import { type Amount, formatNumeric } from '../domain/money.ts';

/** What tells the rows of `job_rollups` of one job apart. */
export const ROLLUP_KEY = 'day, provider, model, state, failure_class, error_code, is_retry';

const COUNTS = [
  'items',
  'usage_estimated_items',
  'input_tokens',
  'cached_input_tokens',
  'cache_write_tokens',
  'output_tokens',
  'reasoning_tokens',
  'amount',
  'customer_amount',
] as const;
export const CORRECTION_MEASURES = ['refunded_amount', 'customer_refunded_amount', 'adjusted_amount'] as const;
export const ROLLUP_MEASURES = [...COUNTS, ...CORRECTION_MEASURES] as const;
export const CORRECTIONS_SUMMED = CORRECTION_MEASURES.map((measure) => `sum(${measure}) AS ${measure}`).join(', ');

function addTo(measures: readonly string[]): string {
  const sums = measures.map((measure) => `${measure} = r.${measure} + excluded.${measure}`).join(', ');
  return `ON CONFLICT (job_id, ${ROLLUP_KEY}) DO UPDATE SET ${sums}`;
}

/** Sums of COUNTS over rows with the columns of an outcome. */
export const SUM_OUTCOMES = `count(*)::int AS items, count(*) FILTER (WHERE usage_estimated)::int AS usage_estimated_items,
  sum(input_tokens) AS input_tokens, sum(cached_input_tokens) AS cached_input_tokens, sum(cache_write_tokens) AS cache_write_tokens,
  sum(output_tokens) AS output_tokens, sum(reasoning_tokens) AS reasoning_tokens, sum(amount) AS amount,
  sum(coalesce(customer_amount, amount)) AS customer_amount`;

/**
 * Part of the statement that settles a range: adds its groups to the job's rollups, a row for each way in which items
 * ended. `$1` is the job, `shard` the placeholder of the shard.
 */
export function rollUpSettled(shard: string): string {
  return `
  INSERT INTO job_rollups AS r (job_id, ${ROLLUP_KEY}, ${COUNTS.join(', ')})
  SELECT $1::uuid, g.day, s.provider, s.provider_model, g.state, g.failure_class, g.error_code, g.is_retry, ${COUNTS.map((count) => `g.${count}`).join(', ')}
  FROM groups g JOIN batch_shards s ON s.job_id = $1::uuid AND s.shard = ${shard}::int
  ${addTo(COUNTS)}`;
}

/** What changes a charge that was made before. */
const CORRECTING_ACTS: readonly LedgerAct[] = ['item.refunded', 'adjusted'];

/**
 * Rows of `job_rollups` that entries e (item_no, event, amount, day) of a job come to: under the kind of their item, or
 * where they name none under the job's model, if it has only one. `$1` is the job, `$2` its bucket.
 */
export function correctionRows(entries: string): string {
  return `
    SELECT e.day, coalesce(s.provider, only_one.provider, '') AS provider, coalesce(s.provider_model, only_one.model, '') AS model,
      coalesce(o.state, 0::smallint) AS state, coalesce(o.failure_class, '') AS failure_class, coalesce(o.error_code, '') AS error_code,
      coalesce(i.retry_of_item_id IS NOT NULL, false) AS is_retry,
      CASE WHEN e.event IN ${namesOf('item.refunded')} THEN e.amount ELSE 0 END AS refunded_amount,
      CASE WHEN e.event IN ${namesOf('item.refunded')} THEN coalesce(customer_share(coalesce(o.customer_amount, o.amount), e.amount, o.amount), e.amount) ELSE 0 END
        AS customer_refunded_amount,
      CASE WHEN e.event IN ${namesOf('adjusted')} THEN e.amount ELSE 0 END AS adjusted_amount
    FROM (${entries}) e
    LEFT JOIN item_outcomes o ON o.job_id = $1::uuid AND o.bucket = $2::int AND o.item_no = e.item_no
    LEFT JOIN batch_items i ON i.job_id = $1::uuid AND i.bucket = $2::int AND i.item_no = e.item_no
    LEFT JOIN batch_shards s ON s.job_id = $1::uuid AND s.shard = o.shard
    LEFT JOIN (
      SELECT min(provider) AS provider, min(model) AS model FROM job_estimates WHERE job_id = $1::uuid HAVING count(*) = 1
    ) only_one ON o.item_no IS NULL`;
}

interface Correction {
  /** 0 for the job itself. */
  readonly itemNo: number;
  readonly event: LedgerEvent;
  readonly amount: Amount;
}

/** Whether an entry of this act, on the tenant's account, changes what the tenant was charged. */
export function isCorrection(act: LedgerAct): boolean {
  return CORRECTING_ACTS.includes(act);
}

/** Adds a refund or an adjustment to the job's rollups, on the day it is made. The job's progress row must be locked. */
export async function rollUpCorrection(
  client: Pick<pg.ClientBase, 'query'>,
  job: JobKey,
  { itemNo, event, amount }: Correction,
): Promise<void> {
  const entry =
    "SELECT $3::int AS item_no, $4::text AS event, $5::numeric AS amount, (now()::timestamptz(3) AT TIME ZONE 'UTC')::date AS day";
  await client.query(
    `INSERT INTO job_rollups AS r (job_id, ${ROLLUP_KEY}, ${CORRECTION_MEASURES.join(', ')})
     SELECT $1::uuid, c.* FROM (${correctionRows(entry)}) c ${addTo(CORRECTION_MEASURES)}`,
    [job.uuid, job.bucket, itemNo, event, formatNumeric(amount)],
  );
}
