import type pg from 'pg';
import type { JobState } from '../domain/job-state.ts';
import type { Endpoint, Provider } from '../domain/provider.ts';
import { fromUuid } from './ids.ts';
import { type JobScope, scopeCondition } from './job-scope.ts';
import { type JobUsageRecord, SUM_COLUMNS, type SumRow, toUsageSums, type UsageSums } from './usage-rows.ts';

type Queryable = Pick<pg.ClientBase, 'query'>;

/** Job rows change state in the transaction that settles their last items, whose clock is a little older than its commit. */
const COMPLETED_MARGIN = "interval '1 day'";

/** SQL of each group; what a null means is that the job has none. */
const GROUP_COLUMNS = {
  tenant: 'j.tenant_id',
  project: 'j.project_id',
  customer: 'j.customer_id',
  api_key: 'j.api_key_id',
  provider: 's.provider',
  model: 'o.model',
  endpoint: 'j.endpoint',
  day: "to_char(o.settled_at AT TIME ZONE 'UTC', 'YYYY-MM-DD')",
} as const;
export type UsageGroupName = keyof typeof GROUP_COLUMNS;

export interface UsageWindow {
  /** Settled at or after, and before. */
  readonly from: Date | null;
  readonly to: Date | null;
  /** Only outcomes written by transactions from `fromXid` on and before `toXid`; all where null. */
  readonly written: { readonly fromXid: string; readonly sinceAt: Date; readonly toXid: string } | null;
}

export interface UsageGroupRecord extends UsageSums {
  readonly group: { readonly [name in UsageGroupName]?: string | null };
}

/**
 * The oldest transaction still open: everything written before it is visible and nothing will be added, so a reader that
 * stops there and resumes there misses no late commit and reads nothing twice.
 */
export async function readHorizon(db: Queryable): Promise<string> {
  const { rows } = await db.query<{ xmin: string }>('SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS xmin');
  return rows[0]?.xmin ?? '0';
}

/** Jobs that may have settled items in the window, in the order of their ids. */
export async function listUsageJobs(
  db: Queryable,
  scope: JobScope | null,
  window: UsageWindow,
  page: { readonly afterUuid: string | null; readonly limit: number },
): Promise<string[]> {
  const condition = scopeCondition(scope, 'j', 1);
  const { rows } = await db.query<{ job_id: string }>(
    `SELECT j.job_id FROM batch_jobs j
     WHERE ${condition.sql} AND ${candidate(4)} AND ($7::uuid IS NULL OR j.job_id > $7) ORDER BY j.job_id LIMIT $8`,
    [...condition.values, ...candidateValues(window), page.afterUuid, page.limit],
  );
  return rows.map((row) => row.job_id);
}

/** What each of the jobs used of each model within the window. */
export async function sumUsageOfJobs(
  db: Queryable,
  jobUuids: readonly string[],
  window: UsageWindow,
): Promise<JobUsageRecord[]> {
  const { rows } = await db.query<SumRow & JobColumns>(
    `SELECT j.job_id, j.tenant_id, j.project_id, j.customer_id, j.api_key_id, j.endpoint, j.state, s.provider, o.model,
       min(o.settled_at) AS first_settled_at, max(o.settled_at) AS last_settled_at, ${SUM_COLUMNS}
     FROM unnest($1::uuid[]) AS wanted (job_id) JOIN batch_jobs j USING (job_id)
     ${joinOutcomes(2)}
     GROUP BY j.job_id, s.provider, o.model ORDER BY j.job_id, s.provider, o.model`,
    [jobUuids, ...windowValues(window)],
  );
  return rows.map((row) => ({
    jobId: fromUuid('job', row.job_id),
    tenantId: row.tenant_id,
    projectId: row.project_id,
    customerId: row.customer_id,
    apiKeyId: row.api_key_id,
    endpoint: row.endpoint,
    state: row.state,
    provider: row.provider,
    model: row.model,
    firstSettledAt: row.first_settled_at,
    lastSettledAt: row.last_settled_at,
    ...toUsageSums(row),
  }));
}

/** Sums over all jobs in scope, one row for each combination of the groups' values. */
export async function sumUsageByGroup(
  db: Queryable,
  scope: JobScope | null,
  window: UsageWindow,
  groups: readonly UsageGroupName[],
): Promise<UsageGroupRecord[]> {
  const condition = scopeCondition(scope, 'j', 1);
  const names = groups.map((name) => `${GROUP_COLUMNS[name]} AS "group_${name}"`);
  const ordinals = groups.map((_, index) => index + 1);
  const { rows } = await db.query<SumRow & { [name: `group_${string}`]: string | null }>(
    `SELECT ${[...names, SUM_COLUMNS].join(', ')}
     FROM batch_jobs j
     ${joinOutcomes(7)}
     WHERE ${condition.sql} AND ${candidate(4)}
     GROUP BY ${[...ordinals, 'j.currency'].join(', ')} ORDER BY ${[...ordinals, 'j.currency'].join(', ')}`,
    [...condition.values, ...candidateValues(window), ...windowValues(window)],
  );
  return rows.map((row) => ({
    group: Object.fromEntries(groups.map((name) => [name, row[`group_${name}`] ?? null])),
    ...toUsageSums(row),
  }));
}

interface JobColumns {
  readonly job_id: string;
  readonly tenant_id: string;
  readonly project_id: string | null;
  readonly customer_id: string | null;
  readonly api_key_id: string;
  readonly endpoint: Endpoint;
  readonly state: JobState;
  readonly provider: Provider | null;
  readonly model: string;
  readonly first_settled_at: Date;
  readonly last_settled_at: Date;
}

function candidate(first: number): string {
  return (
    `j.submitted_at IS NOT NULL AND ($${first + 1}::timestamptz IS NULL OR j.submitted_at < $${first + 1}) AND ` +
    `(j.completed_at IS NULL OR (($${first}::timestamptz IS NULL OR j.completed_at >= $${first} - ${COMPLETED_MARGIN}) AND ` +
    `($${first + 2}::timestamptz IS NULL OR j.completed_at >= $${first + 2} - ${COMPLETED_MARGIN})))`
  );
}

function candidateValues({ from, to, written }: UsageWindow): unknown[] {
  return [from, to, written?.sinceAt ?? null];
}

function joinOutcomes(first: number): string {
  return (
    'JOIN item_outcomes o ON o.bucket = j.bucket AND o.job_id = j.job_id ' +
    `AND ($${first}::timestamptz IS NULL OR o.settled_at >= $${first}) ` +
    `AND ($${first + 1}::timestamptz IS NULL OR o.settled_at < $${first + 1}) ` +
    `AND ($${first + 2}::xid8 IS NULL OR (o.written_by >= $${first + 2} AND o.written_by < $${first + 3}::xid8)) ` +
    'LEFT JOIN batch_shards s ON s.job_id = o.job_id AND s.shard = o.shard'
  );
}

function windowValues({ from, to, written }: UsageWindow): unknown[] {
  return [from, to, written?.fromXid ?? null, written?.toXid ?? null];
}
