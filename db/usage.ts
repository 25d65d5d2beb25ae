import type pg from 'pg';
import type { Provider } from '../domain/provider.ts';
import type { UsageKind } from '../domain/usage-kind.ts';
import { type JobScope, scopeCondition } from './job-scope.ts';
import { inWindow, inWindowValues } from './usage-jobs.ts';
import {
  DAY,
  type JobUsageRecord,
  movements,
  SUM_COLUMNS,
  type SumRow,
  toUsageSums,
  type UsageSums,
} from './usage-rows.ts';
import { type UsageWindow, windowValues } from './usage-window.ts';

type Queryable = Pick<pg.ClientBase, 'query'>;

/** SQL of each group; what a null means is that the job has none. */
const GROUP_COLUMNS = {
  tenant: 'm.tenant_id',
  project: 'm.project_id',
  customer: 'm.customer_id',
  api_key: 'm.api_key_id',
  job_kind: 'm.job_kind',
  provider: 'm.provider',
  model: 'm.model',
  endpoint: 'm.endpoint',
  day: DAY,
} as const;
export type UsageGroupName = keyof typeof GROUP_COLUMNS;

export interface UsageGroupRecord extends UsageSums {
  readonly group: { readonly [name in UsageGroupName]?: string | null };
}

/** Which movements are summed, and for whom. */
export interface UsageReading {
  readonly window: UsageWindow;
  /** For a key of the customer itself, which is not shown what does not concern it. */
  readonly isCustomer: boolean;
}

/**
 * What each of the jobs used of each model on each day, and what was corrected of it. A record is always whole, so that
 * the same id never stands for two sums: with `written`, it is there if any part of it was written from `fromXid` on, and
 * has all that was written before `toXid`. `from` and `to` must be the first moments of days.
 */
export async function sumUsageOfJobs(
  db: Queryable,
  jobUuids: readonly string[],
  { window, isCustomer }: UsageReading,
): Promise<JobUsageRecord[]> {
  const { written } = window;
  const whole = { ...window, written: written === null ? null : { ...written, fromXid: '0' } };
  const { rows } = await db.query<SumRow & RecordColumns>(
    `WITH wanted AS (SELECT * FROM batch_jobs WHERE job_id = ANY($1::uuid[])), m AS (${movements('wanted', 2, '$6')})
     SELECT m.job_id, m.kind, ${DAY} AS day, m.provider, m.model, m.is_late, min(m.at) AS first_at, max(m.at) AS last_at, ${SUM_COLUMNS}
     FROM m GROUP BY m.job_id, m.kind, 3, m.provider, m.model, m.is_late
     HAVING $7::xid8 IS NULL OR bool_or(m.written_by >= $7)
     ORDER BY m.job_id, 3, m.kind, m.provider, m.model, m.is_late`,
    [jobUuids, ...windowValues(whole), isCustomer, written?.fromXid ?? null],
  );
  return rows.map((row) => ({
    jobUuid: row.job_id,
    kind: row.kind,
    day: row.day,
    provider: row.provider,
    model: row.model,
    isLate: row.is_late,
    firstAt: row.first_at,
    lastAt: row.last_at,
    ...toUsageSums(row),
  }));
}

interface RecordColumns {
  readonly job_id: string;
  readonly kind: UsageKind;
  readonly day: string;
  readonly provider: Provider | null;
  readonly model: string;
  readonly is_late: boolean;
  readonly first_at: Date;
  readonly last_at: Date;
}

/** Sums over all jobs in scope, net of refunds, one row for each combination of the groups' values. */
export async function sumUsageByGroup(
  db: Queryable,
  scope: JobScope | null,
  { window, isCustomer }: UsageReading,
  groups: readonly UsageGroupName[],
): Promise<UsageGroupRecord[]> {
  const condition = scopeCondition(scope, 'j', 1);
  const names = groups.map((name) => `${GROUP_COLUMNS[name]} AS "group_${name}"`);
  const ordinals = groups.map((_, index) => index + 1);
  const { rows } = await db.query<SumRow & { [name: `group_${string}`]: string | null }>(
    `WITH wanted AS (
       SELECT * FROM batch_jobs j WHERE ${condition.sql} AND j.submitted_at IS NOT NULL ${inWindow(window, scope, 9)}
     ), m AS (${movements('wanted', 4, '$8')})
     SELECT ${[...names, SUM_COLUMNS].join(', ')} FROM m
     GROUP BY ${[...ordinals, 'm.currency'].join(', ')} ORDER BY ${[...ordinals, 'm.currency'].join(', ')}`,
    [...condition.values, ...windowValues(window), isCustomer, ...inWindowValues(window)],
  );
  return rows.map((row) => ({
    group: Object.fromEntries(groups.map((name) => [name, row[`group_${name}`] ?? null])),
    ...toUsageSums(row),
  }));
}
