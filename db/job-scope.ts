import type { Principal } from '../domain/principal.ts';
import { parseJobId } from './ids.ts';

/** Whose jobs a key may see. A null project or customer is no limit inside the tenant; a null scope is the whole gateway. */
export interface JobScope {
  readonly tenantId: string;
  readonly projectId: string | null;
  readonly customerId: string | null;
}

/** Null for the gateway's own roles, whose routes are not a tenant's. */
export function jobScopeOf({ tenantId, projectId, customerId }: Principal): JobScope | null {
  return tenantId === null ? null : { tenantId, projectId, customerId };
}

/** SQL that holds for rows of `batch_jobs` (as `alias`) within the scope, and its three parameters from `$first` on. */
export function scopeCondition(
  scope: JobScope | null,
  alias: string,
  first: number,
): { sql: string; values: unknown[] } {
  const sql =
    `($${first}::text IS NULL OR ${alias}.tenant_id = $${first}) AND ` +
    `($${first + 1}::text IS NULL OR ${alias}.project_id = $${first + 1}) AND ` +
    `($${first + 2}::text IS NULL OR ${alias}.customer_id = $${first + 2})`;
  return { sql, values: [scope?.tenantId ?? null, scope?.projectId ?? null, scope?.customerId ?? null] };
}

/**
 * SQL that holds for the one row of `batch_jobs` (as `alias`) that a public id names within the scope, and its parameters from
 * `$1` on: a tenant's batch job, and for the whole gateway also the batch of a run over documents. Null for any other id.
 */
export function jobCondition(
  scope: JobScope | null,
  jobId: string,
  alias: string,
): { sql: string; values: unknown[] } | null {
  const named = parseJobId(jobId);
  if (named === null || (named.kind !== 'batch' && scope !== null)) return null;
  const condition = scopeCondition(scope, alias, 3);
  return {
    sql: `${alias}.job_id = $1 AND ${alias}.kind = $2 AND ${alias}.kind <> 'task' AND ${alias}.price_mode = 'batch' AND ${condition.sql}`,
    values: [named.uuid, named.kind, ...condition.values],
  };
}
