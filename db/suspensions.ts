import type pg from 'pg';
import type { JobKind } from '../domain/job-kind.ts';
import { type Amount, formatNumeric, parseNumeric } from '../domain/money.ts';
import type { SpendingScope } from '../domain/overage.ts';
import { jobIdOf, newId } from './ids.ts';
import { kindOf } from './job-kind.ts';
import type { JobRow } from './job-rows.ts';

type Queryable = Pick<pg.ClientBase, 'query'>;

/** A scope that may start nothing new, and the job that cost more than was held for it. */
export interface Suspension extends SpendingScope {
  readonly suspensionId: string;
  readonly tenantId: string;
  /** The public id. */
  readonly jobId: string;
  readonly overage: Amount;
  readonly currency: string;
  readonly createdAt: Date;
  readonly liftedAt: Date | null;
  readonly liftedBy: string | null;
  readonly liftReason: string | null;
}

/** Suspends a scope for the overage of a job; once for a job and scope, also after it was lifted. */
export async function insertSuspension(
  client: Queryable,
  job: JobRow,
  { scope, scopeId }: SpendingScope,
  overage: Amount,
): Promise<void> {
  await client.query(
    `INSERT INTO spending_suspensions (suspension_id, tenant_id, scope, scope_id, job_id, overage_amount, currency)
     VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (job_id, scope, scope_id) DO NOTHING`,
    [newId('suspension'), job.tenantId, scope, scopeId, job.key.uuid, formatNumeric(overage), job.currency],
  );
}

/** The suspensions in force that keep a job from starting, the oldest first. */
export async function listSuspensionsOfJob(
  db: Queryable,
  job: Pick<JobRow, 'tenantId' | 'projectId' | 'customerId'>,
): Promise<Suspension[]> {
  const { rows } = await db.query<SuspensionRow>(
    `${SELECT_SUSPENSION} WHERE tenant_id = $1 AND lifted_at IS NULL AND ((scope = 'tenant' AND scope_id = $1)
       OR (scope = 'project' AND scope_id = $2) OR (scope = 'customer' AND scope_id = $3))
     ORDER BY created_at, suspension_id`,
    [job.tenantId, job.projectId, job.customerId],
  );
  return rows.map(toSuspension);
}

/** All of a tenant's, the newest first; those that were lifted only when asked for. */
export async function listSuspensions(
  db: Queryable,
  tenantId: string,
  filter: { readonly includeLifted: boolean; readonly limit: number },
): Promise<Suspension[]> {
  const { rows } = await db.query<SuspensionRow>(
    `${SELECT_SUSPENSION} WHERE tenant_id = $1 AND ($2 OR lifted_at IS NULL)
     ORDER BY created_at DESC, suspension_id DESC LIMIT $3`,
    [tenantId, filter.includeLifted, filter.limit],
  );
  return rows.map(toSuspension);
}

/** Lifts a suspension; one that was lifted stays as it is. Null for one the tenant does not have. */
export async function liftSuspension(
  db: Queryable,
  { tenantId, suspensionId }: { readonly tenantId: string; readonly suspensionId: string },
  lift: { readonly by: string; readonly reason: string; readonly at: Date },
): Promise<Suspension | null> {
  await db.query(
    `UPDATE spending_suspensions SET lifted_at = $3, lifted_by = $4, lift_reason = $5
     WHERE tenant_id = $1 AND suspension_id = $2 AND lifted_at IS NULL`,
    [tenantId, suspensionId, lift.at, lift.by, lift.reason],
  );
  const { rows } = await db.query<SuspensionRow>(`${SELECT_SUSPENSION} WHERE tenant_id = $1 AND suspension_id = $2`, [
    tenantId,
    suspensionId,
  ]);
  return rows[0] === undefined ? null : toSuspension(rows[0]);
}

const SELECT_SUSPENSION = `
  SELECT suspension_id, tenant_id, scope, scope_id, job_id, ${kindOf('s.job_id')} AS kind, overage_amount, currency, created_at, lifted_at, lifted_by, lift_reason
  FROM spending_suspensions s`;

interface SuspensionRow {
  readonly suspension_id: string;
  readonly tenant_id: string;
  readonly scope: SpendingScope['scope'];
  readonly scope_id: string;
  readonly job_id: string;
  readonly kind: JobKind;
  readonly overage_amount: string;
  readonly currency: string;
  readonly created_at: Date;
  readonly lifted_at: Date | null;
  readonly lifted_by: string | null;
  readonly lift_reason: string | null;
}

function toSuspension(row: SuspensionRow): Suspension {
  return {
    suspensionId: row.suspension_id,
    tenantId: row.tenant_id,
    scope: row.scope,
    scopeId: row.scope_id,
    jobId: jobIdOf({ kind: row.kind, uuid: row.job_id }),
    overage: parseNumeric(row.overage_amount),
    currency: row.currency,
    createdAt: row.created_at,
    liftedAt: row.lifted_at,
    liftedBy: row.lifted_by,
    liftReason: row.lift_reason,
  };
}
