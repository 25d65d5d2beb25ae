import { countItems, measureStages, sumCosts, sumTokens } from '../db/analytics.ts';
import { listTopFailures } from '../db/analytics-failures.ts';
import type { AnalyticsFilter } from '../db/analytics-filter.ts';
import { type Database, openDatabase } from '../db/client.ts';
import { ROLLUP_KEY, SUM_OUTCOMES } from '../ledger/rollups.ts';
import { type Measurement, median } from './measurement.ts';

const JOBS = 100;
const ITEMS_A_JOB = 10_000;
const RUNS = 5;
/** A month of its own, whose partitions are dropped again. */
const BUCKET = 200_002;
const TENANT = 'tenant_bench_analytics';
const BY_MODEL = ['provider', 'model', 'day'] as const;
const OWN_JOBS = `SELECT job_id FROM batch_jobs WHERE tenant_id = '${TENANT}'`;

/**
 * Asks for figures of a million settled items, answered from rollups, and for the very same sums over the items' own
 * outcomes. Needs a migrated database; leaves nothing in it.
 */
export async function measureAnalytics(databaseUrl: string): Promise<Measurement> {
  const db = openDatabase({ url: databaseUrl, poolSize: 2, applicationName: 'bench-analytics' });
  try {
    await fill(db);
    const rollupMs: number[] = [];
    const rowsMs: number[] = [];
    for (let run = 0; run < RUNS; run += 1) {
      rollupMs.push(await time(() => askRollups(db)));
      rowsMs.push(await time(() => db.pool.query(SAME_FROM_ROWS, [TENANT])));
    }
    const [rollups, rows] = [median(rollupMs), median(rowsMs)];
    return {
      name: `figures of ${(JOBS * ITEMS_A_JOB).toLocaleString('en')} items from rollups, against the same over the rows`,
      ratio: rows / rollups,
      goal: { atLeast: 10 },
      detail: `items, costs, tokens, failures and durations together ${rollups.toFixed(1)} ms from rollups of ${JOBS} jobs, one pass over the outcomes ${rows.toFixed(0)} ms, median of ${RUNS}`,
    };
  } finally {
    await empty(db);
    await db.close();
  }
}

async function time(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

async function askRollups({ pool }: Database): Promise<void> {
  const none = { tenantId: null, projectId: null, customerId: null, apiKeyId: null, jobKind: null, endpoint: null };
  const filter: AnalyticsFilter = {
    scope: { tenantId: TENANT, projectId: null, customerId: null },
    isCustomer: false,
    ...none,
    provider: null,
    model: null,
    from: null,
    to: null,
  };
  const counted = await countItems(pool, filter, []);
  if (counted[0]?.completed === undefined || counted[0].completed + counted[0].failed !== JOBS * ITEMS_A_JOB) {
    throw new Error('the rollups do not hold every item');
  }
  await sumCosts(pool, filter, BY_MODEL);
  await sumTokens(pool, filter, BY_MODEL);
  await listTopFailures(pool, filter, ['endpoint', 'model'], 10);
  await measureStages(pool, filter, [], 'jobs');
}

const SAME_FROM_ROWS = `
  SELECT j.endpoint, o.model, o.state, o.failure_class, o.error_code, (o.settled_at AT TIME ZONE 'UTC')::date AS day, ${SUM_OUTCOMES}
  FROM item_outcomes o JOIN batch_jobs j ON j.job_id = o.job_id AND j.bucket = o.bucket
  WHERE j.tenant_id = $1 GROUP BY 1, 2, 3, 4, 5, 6`;

async function fill({ pool }: Database): Promise<void> {
  await pool.query('SELECT ensure_partitions($1)', [BUCKET]);
  await pool.query('INSERT INTO tenants (tenant_id, name) VALUES ($1, $1) ON CONFLICT DO NOTHING', [TENANT]);
  await pool.query(
    `INSERT INTO batch_jobs (job_id, bucket, tenant_id, api_key_id, endpoint, requested_model, currency, state, item_count, estimated_amount,
       created_at, submitted_at, admitted_at, completed_at)
     SELECT uuidv7(), $1, $2, 'bench', 'chat.completions', 'openai/gpt-4o-mini', 'USD', 'completed_with_errors', $4, 1, now(), now(), now(), now()
     FROM generate_series(1, $3)`,
    [BUCKET, TENANT, JOBS, ITEMS_A_JOB],
  );
  await pool.query(
    `INSERT INTO item_outcomes_${BUCKET} (bucket, job_id, item_no, seq, shard, attempt, state, failure_class, error_code, input_tokens,
       cached_input_tokens, cache_write_tokens, long_cache_write_tokens, output_tokens, reasoning_tokens, usage_estimated, amount, model)
     SELECT $1, job_id, n, n, 1, 1, CASE WHEN n % 50 = 0 THEN 3 ELSE 2 END, CASE WHEN n % 50 = 0 THEN 'provider_error' ELSE '' END,
       CASE WHEN n % 50 = 0 THEN 'provider_server_error' ELSE '' END, 180 + n % 50, n % 90, 0, 0, 60 + n % 30, 0, false,
       0.000012 + n * 0.000000000001, 'gpt-4o-mini'
     FROM (${OWN_JOBS}) jobs, generate_series(1, $2::int) n`,
    [BUCKET, ITEMS_A_JOB],
  );
  await pool.query(
    `INSERT INTO job_rollups (job_id, ${ROLLUP_KEY}, items, usage_estimated_items, input_tokens, cached_input_tokens, cache_write_tokens,
       output_tokens, reasoning_tokens, amount, customer_amount)
     SELECT job_id, (settled_at AT TIME ZONE 'UTC')::date, 'openai', 'gpt-4o-mini', state, failure_class, error_code, false, ${SUM_OUTCOMES}
     FROM item_outcomes_${BUCKET} GROUP BY 1, 2, 5, 6, 7`,
  );
  await pool.query(
    `INSERT INTO job_estimates SELECT job_id, 'openai', 'gpt-4o-mini', ${ITEMS_A_JOB}, 1 FROM (${OWN_JOBS}) jobs`,
  );
  await pool.query(
    `INSERT INTO stage_times (job_id, shard, since, ended_at, running_ms) SELECT job_id, 0, now(), now(), 60000 FROM (${OWN_JOBS}) jobs`,
  );
  await pool.query(`ANALYZE item_outcomes_${BUCKET}, job_rollups, job_estimates, stage_times, batch_jobs`);
}

async function empty({ pool }: Database): Promise<void> {
  const { rows } = await pool.query<{ leaf: string }>(
    `SELECT c.oid::regclass::text AS leaf FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE c.relname LIKE $1`,
    [`%\\_${BUCKET}`],
  );
  for (const { leaf } of rows) await pool.query(`DROP TABLE ${leaf}`);
  for (const table of ['job_rollups', 'job_estimates', 'stage_times']) {
    await pool.query(`DELETE FROM ${table} WHERE job_id IN (${OWN_JOBS})`);
  }
  await pool.query('DELETE FROM batch_jobs WHERE tenant_id = $1', [TENANT]);
  await pool.query('DELETE FROM tenants WHERE tenant_id = $1', [TENANT]);
}
