import { factColumns } from './analytics-filter.ts';

/** Jobs that were accepted and have not ended, as the index of open jobs has them. */
const IS_OPEN =
  "j.admitted_at IS NOT NULL AND j.state IN ('validating', 'queued', 'running', 'finalizing', 'cancel_requested')";
const HAS_ENDED = 'j.admitted_at IS NOT NULL AND j.completed_at IS NOT NULL';

const ROLLUP = { provider: "nullif(r.provider, '')", model: "nullif(r.model, '')", day: 'r.day' };
const ENDED_ON = "(j.completed_at AT TIME ZONE 'UTC')::date";
const NO_DAY = 'NULL::date';

/** Given columns of every rollup. */
export function rollupFacts(columns: string, where = 'true'): string {
  return `SELECT ${factColumns(ROLLUP)}, ${columns} FROM job_rollups r JOIN batch_jobs j ON j.job_id = r.job_id WHERE ${where}`;
}

/** `pending`: what the open jobs were accepted with, less what has ended of it. */
export function pendingFacts(columns: (pending: string) => string): string[] {
  const estimated = factColumns({ provider: 'e.provider', model: 'e.model', day: NO_DAY });
  return [
    `SELECT ${estimated}, ${columns('e.items')} FROM batch_jobs j JOIN job_estimates e ON e.job_id = j.job_id WHERE ${IS_OPEN}`,
    `SELECT ${factColumns({ ...ROLLUP, day: NO_DAY })}, ${columns('-r.items')} FROM batch_jobs j JOIN job_rollups r ON r.job_id = j.job_id WHERE ${IS_OPEN}`,
  ];
}

/** Amounts of money, in the tenant's view or in that of the job's customer. */
interface CostColumns {
  readonly refunded: string;
  readonly adjusted: string;
  readonly net: string;
}

function costColumns(isCustomer: boolean): CostColumns {
  const [charged, refunded] = isCustomer
    ? ['r.customer_amount', 'r.customer_refunded_amount']
    : ['r.amount', 'r.refunded_amount'];
  // What is settled between tenant, gateway and provider does not concern a customer with prices of its own.
  const adjusted = isCustomer
    ? 'CASE WHEN j.customer_pricing IS NULL THEN r.adjusted_amount ELSE 0 END'
    : 'r.adjusted_amount';
  return { refunded, adjusted, net: `${charged} - ${refunded} + ${adjusted}` };
}

/** A job's own model, if it has only one: money that is the whole job's goes under it. */
const ONLY_MODEL = `LEFT JOIN LATERAL (
    SELECT CASE count(*) WHEN 1 THEN min(provider) END AS provider, CASE count(*) WHEN 1 THEN min(model) END AS model
    FROM job_estimates WHERE job_id = j.job_id
  ) o ON true`;
const OF_JOB = { provider: 'o.provider', model: 'o.model' };

/** `currency`, `settled`, `refunded`, `adjusted`, `held`, `estimated`, `ended_settled` and `ended_job`. */
export function costFacts(isCustomer: boolean): string[] {
  const { refunded, adjusted, net } = costColumns(isCustomer);
  const ended = (estimated: string, settled: string) => `j.currency, 0, 0, 0, 0, ${estimated}, ${settled}, j.job_id`;
  const held = isCustomer
    ? 'CASE WHEN j.customer_pricing IS NULL THEN h.amount - h.drawn ELSE greatest(j.customer_reserved_amount - p.customer_settled_amount, 0) END'
    : 'h.amount - h.drawn';
  return [
    rollupFacts(
      `j.currency, ${net} AS settled, ${refunded} AS refunded, ${adjusted} AS adjusted, 0 AS held, 0 AS estimated,
        0 AS ended_settled, NULL::uuid AS ended_job`,
    ),
    isCustomer
      ? `SELECT ${factColumns({ ...OF_JOB, day: ENDED_ON })}, ${ended('coalesce(j.customer_estimated_amount, j.estimated_amount)', '0')}
         FROM batch_jobs j ${ONLY_MODEL} WHERE ${HAS_ENDED}`
      : `SELECT ${factColumns({ provider: 'e.provider', model: 'e.model', day: ENDED_ON })}, ${ended('e.estimated_amount', '0')}
         FROM batch_jobs j JOIN job_estimates e ON e.job_id = j.job_id WHERE ${HAS_ENDED}`,
    `SELECT ${factColumns({ ...ROLLUP, day: ENDED_ON })}, ${ended('0', net)}
     FROM batch_jobs j JOIN job_rollups r ON r.job_id = j.job_id WHERE ${HAS_ENDED}`,
    `SELECT ${factColumns({ ...OF_JOB, day: NO_DAY })}, j.currency, 0, 0, 0, ${held}, 0, 0, NULL::uuid
     FROM batch_jobs j
     JOIN holds h ON h.job_id = j.job_id AND h.submission_no = j.submission_no AND h.scope = 'tenant' AND h.period = 'total' AND h.released IS NULL
     JOIN job_progress p ON p.job_id = j.job_id
     ${ONLY_MODEL} WHERE ${IS_OPEN}`,
  ];
}

/** Times of ended jobs, or of their shards: `queued_ms`, `running_ms`, `finalizing_ms`. */
export function stageFacts(of: 'jobs' | 'shards'): string {
  const endedOn = "(t.ended_at AT TIME ZONE 'UTC')::date";
  const times = 't.queued_ms, t.running_ms, t.finalizing_ms';
  return of === 'jobs'
    ? `SELECT ${factColumns({ provider: 'j.resolved_provider', model: 'j.resolved_provider_model', day: endedOn })}, ${times}
       FROM stage_times t JOIN batch_jobs j ON j.job_id = t.job_id WHERE t.shard = 0 AND t.ended_at IS NOT NULL`
    : `SELECT ${factColumns({ provider: 's.provider', model: 's.provider_model', day: endedOn })}, ${times}
       FROM stage_times t JOIN batch_jobs j ON j.job_id = t.job_id JOIN batch_shards s ON s.job_id = t.job_id AND s.shard = t.shard
       WHERE t.ended_at IS NOT NULL`;
}

/** Refused submissions of batch jobs, whose model is what was asked for: they never had another. */
export const REFUSAL_FACTS = `
  SELECT tenant_id, nullif(project_id, '') AS project_id, nullif(customer_id, '') AS customer_id, api_key_id, 'batch' AS job_kind, endpoint, requested_model,
    NULL::text AS provider, requested_model AS model, day, code, submissions, items
  FROM refusal_rollups`;
