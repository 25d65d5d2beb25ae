import type pg from 'pg';
import type { JobKind } from '../domain/job-kind.ts';
import { jobIdOf, parseJobId } from './ids.ts';
import { kindOf } from './job-kind.ts';

type Queryable = Pick<pg.ClientBase, 'query'>;

/** What keeps content from being deleted: of one job, of a customer, or with neither named of the tenant. */
export interface LegalHold {
  readonly holdId: string;
  readonly tenantId: string;
  readonly customerId: string | null;
  /** The public id. */
  readonly jobId: string | null;
  readonly reason: string;
  /** The ids of keys. */
  readonly setBy: string;
  readonly setAt: Date;
  readonly liftedAt: Date | null;
  readonly liftedBy: string | null;
}

/** Holds for a row of `batch_jobs`, or of another table with the same columns, that no hold covers. */
export function notHeld(job: string, { hasJob = true }: { readonly hasJob?: boolean } = {}): string {
  const byJob = hasJob ? `h.job_id = ${job}.job_id` : 'false';
  return `NOT EXISTS (SELECT FROM legal_holds h WHERE h.tenant_id = ${job}.tenant_id AND h.lifted_at IS NULL
    AND (h.job_id IS NULL OR ${byJob}) AND (h.customer_id IS NULL OR h.customer_id = ${job}.customer_id))`;
}

const COLUMNS = `hold_id AS "holdId", tenant_id AS "tenantId", customer_id AS "customerId", job_id AS "jobId", ${kindOf('legal_holds.job_id')} AS "jobKind", reason,
  set_by AS "setBy", set_at AS "setAt", lifted_at AS "liftedAt", lifted_by AS "liftedBy"`;

interface HoldRow extends LegalHold {
  readonly jobKind: JobKind;
}

function toHold({ jobKind, ...row }: HoldRow): LegalHold {
  return { ...row, jobId: row.jobId === null ? null : jobIdOf({ kind: jobKind, uuid: row.jobId }) };
}

export async function insertHold(db: Queryable, hold: Omit<LegalHold, 'liftedAt' | 'liftedBy'>): Promise<void> {
  const jobUuid = hold.jobId === null ? null : (parseJobId(hold.jobId)?.uuid ?? null);
  await db.query(
    `INSERT INTO legal_holds (hold_id, tenant_id, customer_id, job_id, reason, set_by, set_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [hold.holdId, hold.tenantId, hold.customerId, jobUuid, hold.reason, hold.setBy, hold.setAt],
  );
}

export async function findHold(db: Queryable, tenantId: string, holdId: string): Promise<LegalHold | null> {
  const { rows } = await db.query<HoldRow>(`SELECT ${COLUMNS} FROM legal_holds WHERE tenant_id = $1 AND hold_id = $2`, [
    tenantId,
    holdId,
  ]);
  return rows[0] === undefined ? null : toHold(rows[0]);
}

/** By id, those after one. */
export async function listHolds(
  db: Queryable,
  tenantId: string,
  { withLifted, after, limit }: { readonly withLifted: boolean; readonly after: string | null; readonly limit: number },
): Promise<LegalHold[]> {
  const { rows } = await db.query<HoldRow>(
    `SELECT ${COLUMNS} FROM legal_holds
     WHERE tenant_id = $1 AND ($2 OR lifted_at IS NULL) AND ($3::text IS NULL OR hold_id > $3) ORDER BY hold_id LIMIT $4`,
    [tenantId, withLifted, after, limit],
  );
  return rows.map(toHold);
}

/** False where it is lifted already. */
export async function liftHold(
  db: Queryable,
  { holdId, liftedBy, now }: { readonly holdId: string; readonly liftedBy: string; readonly now: Date },
): Promise<boolean> {
  const { rowCount } = await db.query(
    'UPDATE legal_holds SET lifted_at = $2, lifted_by = $3 WHERE hold_id = $1 AND lifted_at IS NULL',
    [holdId, now, liftedBy],
  );
  return rowCount === 1;
}

/** The id of the oldest hold that covers a job; null where none does. */
export async function findHoldOfJob(db: Queryable, uuid: string): Promise<string | null> {
  const { rows } = await db.query<{ holdId: string }>(
    `SELECT h.hold_id AS "holdId" FROM batch_jobs j JOIN legal_holds h ON h.tenant_id = j.tenant_id AND h.lifted_at IS NULL
       AND (h.job_id IS NULL OR h.job_id = j.job_id) AND (h.customer_id IS NULL OR h.customer_id = j.customer_id)
     WHERE j.job_id = $1 ORDER BY h.hold_id LIMIT 1`,
    [uuid],
  );
  return rows[0]?.holdId ?? null;
}
