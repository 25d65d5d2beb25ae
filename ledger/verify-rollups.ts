import type { Database } from '../db/client.ts';
import { jobIdOf } from '../db/ids.ts';
import type { JobKey } from '../db/job-rows.ts';
import { namesOf } from '../db/ledger-names.ts';
import { inTransaction } from '../db/transaction.ts';
import { itemStateFromCode } from '../domain/item-state.ts';
import { formatAmount, parseNumeric } from '../domain/money.ts';
import {
  CORRECTION_MEASURES,
  CORRECTIONS_SUMMED,
  correctionRows,
  ROLLUP_KEY,
  ROLLUP_MEASURES,
  SUM_OUTCOMES,
} from './rollups.ts';

type Report = (subject: string, check: string, found: unknown, expected: unknown) => void;
type Measure = (typeof ROLLUP_MEASURES)[number];

/**
 * Sums a job's outcomes and the corrections in its ledger again and names every rollup that says otherwise, and compares
 * the job's estimate with its parts. One snapshot, so that a settlement in between cannot look like a difference.
 */
export async function verifyRollups(db: Database, job: JobKey, report: Report): Promise<void> {
  const [rollups, estimates] = await inTransaction(
    db,
    async (client) => {
      const values = [job.uuid, job.bucket];
      return [
        (await client.query<DifferentRollup>(DIFFERENT_ROLLUPS, values)).rows,
        (await client.query<EstimateRow>(ESTIMATES, [job.uuid])).rows,
      ] as const;
    },
    { statementTimeoutMs: 0, setWise: true },
  );
  const jobId = jobIdOf(job);
  for (const row of rollups) {
    for (const measure of ROLLUP_MEASURES) {
      report(nameOf(jobId, row), measure, show(measure, row.found), show(measure, row.expected));
    }
  }
  for (const row of estimates) {
    report(`${jobId} estimates`, 'items', row.found_items, row.items);
    report(`${jobId} estimates`, 'amount', amountOf(row.found_amount), amountOf(row.amount));
  }
}

interface DifferentRollup {
  readonly day: string;
  readonly provider: string;
  readonly model: string;
  readonly state: number;
  readonly failure_class: string;
  readonly error_code: string;
  readonly is_retry: boolean;
  /** As text, null where there is no such row. */
  readonly found: { readonly [measure in Measure]: string } | null;
  readonly expected: { readonly [measure in Measure]: string } | null;
}

interface EstimateRow {
  readonly items: number;
  readonly amount: string;
  readonly found_items: number;
  readonly found_amount: string;
}

function nameOf(jobId: string, row: DifferentRollup): string {
  const state = row.state === 0 ? 'of the job itself' : itemStateFromCode(row.state);
  const kind = [state, row.error_code, row.is_retry ? 'retried' : ''].filter((part) => part !== '').join(' ');
  return `${jobId} rollup of ${row.day}: ${row.provider}/${row.model} ${kind}`;
}

function show(measure: Measure, sums: DifferentRollup['found']): string {
  const text = sums?.[measure] ?? '0';
  return measure.endsWith('amount') ? amountOf(text) : text;
}

function amountOf(text: string): string {
  return formatAmount(parseNumeric(text));
}

const CORRECTIONS = correctionRows(`
  SELECT item_no, event, amount, (created_at AT TIME ZONE 'UTC')::date AS day FROM ledger_entries
  WHERE subject_id = $1::uuid AND bucket = $2::int AND event IN ${namesOf('item.refunded', 'adjusted')} AND account = 'tenant'`);

/** Outcomes o that a condition names, each with the key of the rollup that it belongs to. */
function outcomesOf(condition: string): string {
  return `
  SELECT o.job_id, (o.settled_at AT TIME ZONE 'UTC')::date AS day, coalesce(s.provider, '') AS provider, coalesce(s.provider_model, '') AS model,
    o.state, o.failure_class, o.error_code, coalesce(i.retry_of_item_id IS NOT NULL, false) AS is_retry, o.usage_estimated,
    o.input_tokens, o.cached_input_tokens, o.cache_write_tokens, o.output_tokens, o.reasoning_tokens, o.amount, o.customer_amount
  FROM item_outcomes o
  LEFT JOIN batch_shards s ON s.job_id = o.job_id AND s.shard = o.shard
  LEFT JOIN batch_items i ON i.job_id = o.job_id AND i.bucket = o.bucket AND i.item_no = o.item_no
  WHERE ${condition}`;
}

const OUTCOMES = outcomesOf('o.job_id = $1::uuid AND o.bucket = $2::int');

const AS_TEXT = ROLLUP_MEASURES.map((measure) => `'${measure}', ${measure}::text`).join(', ');

const AS_NUMBERS = `ARRAY[${ROLLUP_MEASURES.map((measure) => `${measure}::numeric`).join(', ')}]`;

/** Either side alone, or both with other sums. */
const DIFFERENT_ROLLUPS = `
  WITH settled AS (SELECT ${ROLLUP_KEY}, ${SUM_OUTCOMES} FROM (${OUTCOMES}) outcomes GROUP BY ${ROLLUP_KEY}),
  corrected AS (
    SELECT ${ROLLUP_KEY}, ${CORRECTIONS_SUMMED} FROM (${CORRECTIONS}) corrections GROUP BY ${ROLLUP_KEY}
  ),
  expected AS (
    SELECT ${ROLLUP_KEY}, ${ROLLUP_MEASURES.map((measure) => `coalesce(${measure}, 0) AS ${measure}`).join(', ')}
    FROM settled FULL JOIN corrected USING (${ROLLUP_KEY})
  ),
  found AS (SELECT ${ROLLUP_KEY}, ${ROLLUP_MEASURES.join(', ')} FROM job_rollups WHERE job_id = $1::uuid)
  SELECT to_char(day, 'YYYY-MM-DD') AS day, provider, model, state, failure_class, error_code, is_retry, f.sums AS found, e.sums AS expected
  FROM (SELECT ${ROLLUP_KEY}, jsonb_build_object(${AS_TEXT}) AS sums, ${AS_NUMBERS} AS compared FROM found) f
  FULL JOIN (SELECT ${ROLLUP_KEY}, jsonb_build_object(${AS_TEXT}) AS sums, ${AS_NUMBERS} AS compared FROM expected) e
    USING (${ROLLUP_KEY})
  WHERE f.compared IS DISTINCT FROM e.compared
  ORDER BY ${ROLLUP_KEY}`;

const ESTIMATES = `
  SELECT j.item_count AS items, coalesce(j.estimated_amount, 0) AS amount,
    coalesce(sum(e.items), 0)::int AS found_items, coalesce(sum(e.estimated_amount), 0) AS found_amount
  FROM batch_jobs j LEFT JOIN job_estimates e ON e.job_id = j.job_id WHERE j.job_id = $1::uuid GROUP BY j.job_id`;

/**
 * Those of the jobs `$1`, whose buckets are `$2`, whose rollups or estimates may be wrong: all that are, and those with
 * corrections, or that change just then.
 */
export const DOUBTFUL_ROLLUPS = `
  WITH expected AS (
    SELECT job_id, ${ROLLUP_KEY}, ${ROLLUP_MEASURES.map((measure) => (isCount(measure) ? `${measure}::numeric` : '0::numeric')).join(', ')}
    FROM (SELECT job_id, ${ROLLUP_KEY}, ${SUM_OUTCOMES}
      FROM (${outcomesOf('o.job_id = ANY($1::uuid[]) AND o.bucket = ANY($2::int[])')}) outcomes GROUP BY job_id, ${ROLLUP_KEY}) settled
  ),
  found AS (
    SELECT job_id, ${ROLLUP_KEY}, ${ROLLUP_MEASURES.map((measure) => `${measure}::numeric`).join(', ')}
    FROM job_rollups WHERE job_id = ANY($1::uuid[])
  )
  SELECT job_id FROM (TABLE expected EXCEPT TABLE found) missing
  UNION SELECT job_id FROM (TABLE found EXCEPT TABLE expected) surplus
  UNION SELECT j.job_id FROM batch_jobs j LEFT JOIN job_estimates e ON e.job_id = j.job_id WHERE j.job_id = ANY($1::uuid[])
    GROUP BY j.job_id
    HAVING j.item_count <> coalesce(sum(e.items), 0) OR coalesce(j.estimated_amount, 0) <> coalesce(sum(e.estimated_amount), 0)`;

/** The others are of corrections. */
function isCount(measure: Measure): boolean {
  return CORRECTION_MEASURES.every((correction) => correction !== measure);
}
