import type pg from 'pg';
import { jobIdOf } from './ids.ts';
import type { JobKey } from './job-rows.ts';
import { notHeld } from './legal-holds.ts';

type Queryable = Pick<pg.ClientBase, 'query'>;

/** A wish that all content of a customer be deleted. It is of the jobs and schedules there were when it was made. */
export interface DataDeletion {
  readonly deletionId: string;
  readonly tenantId: string;
  readonly customerId: string;
  readonly reason: string;
  /** The id of a key. */
  readonly requestedBy: string;
  readonly requestedAt: Date;
  readonly draftsDeleted: number;
  readonly endedAt: Date | null;
}

const SELECT_DELETION = `SELECT deletion_id AS "deletionId", tenant_id AS "tenantId", customer_id AS "customerId", reason,
  requested_by AS "requestedBy", requested_at AS "requestedAt", drafts_deleted AS "draftsDeleted", ended_at AS "endedAt"
  FROM data_deletions`;

export async function insertDataDeletion(
  db: Queryable,
  wanted: Omit<DataDeletion, 'draftsDeleted' | 'endedAt'>,
): Promise<void> {
  await db.query(
    `INSERT INTO data_deletions (deletion_id, tenant_id, customer_id, reason, requested_by, requested_at)
     VALUES ($1, $2, $3, $4, $5, $6)`,
    [wanted.deletionId, wanted.tenantId, wanted.customerId, wanted.reason, wanted.requestedBy, wanted.requestedAt],
  );
}

export async function findDataDeletion(
  db: Queryable,
  { tenantId, customerId, deletionId }: Pick<DataDeletion, 'tenantId' | 'customerId' | 'deletionId'>,
): Promise<DataDeletion | null> {
  const { rows } = await db.query<DataDeletion>(
    `${SELECT_DELETION} WHERE tenant_id = $1 AND customer_id = $2 AND deletion_id = $3`,
    [tenantId, customerId, deletionId],
  );
  return rows[0] ?? null;
}

/** A customer's, by id, those after one. */
export async function listDataDeletions(
  db: Queryable,
  { tenantId, customerId }: Pick<DataDeletion, 'tenantId' | 'customerId'>,
  page: { readonly after: string | null; readonly limit: number },
): Promise<DataDeletion[]> {
  const { rows } = await db.query<DataDeletion>(
    `${SELECT_DELETION} WHERE tenant_id = $1 AND customer_id = $2 AND ($3::text IS NULL OR deletion_id > $3)
     ORDER BY deletion_id LIMIT $4`,
    [tenantId, customerId, page.after, page.limit],
  );
  return rows;
}

/** Those that have not ended, the oldest first. */
export async function listOpenDeletions(db: Queryable, limit: number): Promise<DataDeletion[]> {
  const { rows } = await db.query<DataDeletion>(
    `${SELECT_DELETION} WHERE ended_at IS NULL ORDER BY requested_at LIMIT $1`,
    [limit],
  );
  return rows;
}

type Asked = Pick<DataDeletion, 'tenantId' | 'customerId' | 'requestedAt'>;

/** Of a deletion, as $1 to $3. */
export const ITS_DOCUMENTS = 'd.tenant_id = $1 AND d.customer_id = $2 AND d.created_at <= $3';
const ITS_JOBS = 'j.tenant_id = $1 AND j.customer_id = $2 AND j.created_at <= $3';
const ENDED = "j.state IN ('completed', 'completed_with_errors', 'expired', 'cancelled', 'failed')";

function valuesOf({ tenantId, customerId, requestedAt }: Asked): unknown[] {
  return [tenantId, customerId, requestedAt];
}

/** Its jobs that can go now: ended ones with content, and drafts. None that is held. */
export async function listDeletable(
  db: Queryable,
  deletion: Asked,
  limit: number,
): Promise<(JobKey & { readonly isDraft: boolean })[]> {
  const { rows } = await db.query<JobKey & { isDraft: boolean }>(
    `SELECT j.kind, j.job_id AS uuid, j.bucket, j.state = 'draft' AS "isDraft" FROM batch_jobs j
     WHERE ${ITS_JOBS} AND (j.state = 'draft' OR (${ENDED} AND j.content_deleted_at IS NULL)) AND ${notHeld('j')}
     ORDER BY j.job_id LIMIT $4`,
    [...valuesOf(deletion), limit],
  );
  return rows;
}

export async function countDraftDeleted(db: Queryable, deletionId: string): Promise<void> {
  await db.query('UPDATE data_deletions SET drafts_deleted = drafts_deleted + 1 WHERE deletion_id = $1', [deletionId]);
}

/** Ends it where nothing of it is left to be done. */
export async function endDataDeletion(db: Queryable, deletion: DataDeletion, now: Date): Promise<boolean> {
  const { rowCount } = await db.query(
    `UPDATE data_deletions SET ended_at = $5 WHERE deletion_id = $4 AND ended_at IS NULL AND NOT EXISTS (
       SELECT FROM batch_jobs j WHERE ${ITS_JOBS}
         AND (j.content_deleted_at IS NULL OR j.removal_due_at IS NOT NULL OR j.provider_files_due_at IS NOT NULL))
     AND NOT EXISTS (
       SELECT FROM documents d WHERE ${ITS_DOCUMENTS} AND (d.content_deleted_at IS NULL OR d.artifact_key IS NOT NULL))`,
    [...valuesOf(deletion), deletion.deletionId, now],
  );
  return rowCount === 1;
}

/** What has become of a deletion's jobs, as it is now. */
export interface DeletionCounts {
  readonly jobs: number;
  readonly deleted: number;
  /** Content cannot be read any more, and is being removed. */
  readonly removing: number;
  readonly held: number;
  /** Not ended yet. */
  readonly open: number;
  readonly requests: number;
  readonly results: number;
  readonly artifactsDeleted: number;
  readonly artifactsLeft: number;
  readonly providerBatchesDeleted: number;
  readonly schedulesLeft: number;
}

export async function countDeletion(db: Queryable, deletion: Asked): Promise<DeletionCounts> {
  const { rows } = await db.query<DeletionCounts>(
    `WITH its AS (
       SELECT j.job_id, j.item_count, p.last_seq, NOT (${notHeld('j')}) AS is_held, ${ENDED} AS has_ended,
         j.content_deleted_at IS NOT NULL AS is_deleted, j.removal_due_at IS NOT NULL AS is_removing
       FROM batch_jobs j LEFT JOIN job_progress p ON p.job_id = j.job_id WHERE ${ITS_JOBS}
     ), gone AS (SELECT * FROM its WHERE is_deleted AND NOT is_removing)
     SELECT (SELECT count(*)::int FROM its) AS jobs, (SELECT count(*)::int FROM gone) AS deleted,
       (SELECT count(*)::int FROM its WHERE is_removing) AS removing,
       (SELECT count(*)::int FROM its WHERE is_held AND NOT is_deleted) AS held,
       (SELECT count(*)::int FROM its WHERE NOT has_ended) AS open,
       (SELECT coalesce(sum(item_count), 0)::float8 FROM gone) AS requests,
       (SELECT coalesce(sum(last_seq), 0)::float8 FROM gone) AS results,
       (SELECT count(*)::int FROM artifacts a JOIN its USING (job_id) WHERE a.deleted_at IS NOT NULL AND a.stored_at IS NOT NULL)
         AS "artifactsDeleted",
       (SELECT count(*)::int FROM artifacts a JOIN its USING (job_id) WHERE a.deleted_at IS NULL AND a.stored_at IS NOT NULL)
         AS "artifactsLeft",
       (SELECT count(*)::int FROM batch_provider_metadata m JOIN its USING (job_id) WHERE m.files_deleted_at IS NOT NULL)
         AS "providerBatchesDeleted",
       (SELECT count(*)::int FROM batch_schedules s WHERE s.tenant_id = $1 AND s.customer_id = $2 AND s.created_at <= $3
          AND (s.deleted_at IS NULL OR s.job ? 'request_defaults')) AS "schedulesLeft"`,
    valuesOf(deletion),
  );
  if (rows[0] === undefined) throw new Error('a count gave no row');
  return rows[0];
}

/** Files that a provider still has, or has to be taken to have. */
export interface LeftAtProvider {
  readonly jobId: string;
  readonly provider: string;
  readonly batches: number;
  /** When the provider deletes them by itself; null where that is not known. */
  readonly expiresAt: Date | null;
}

/** By job, those after one. */
export async function listLeftAtProviders(db: Queryable, deletion: Asked, limit: number): Promise<LeftAtProvider[]> {
  const { rows } = await db.query<Omit<LeftAtProvider, 'jobId'> & Pick<JobKey, 'kind' | 'uuid'>>(
    `SELECT j.kind, j.job_id AS uuid, m.provider, count(*)::int AS batches, max(j.retrieval_deadline) AS "expiresAt"
     FROM batch_jobs j JOIN batch_provider_metadata m ON m.job_id = j.job_id
     WHERE ${ITS_JOBS} AND m.files_deleted_at IS NULL AND (m.provider_batch_id IS NOT NULL OR m.input_file_id IS NOT NULL)
     GROUP BY j.kind, j.job_id, m.provider ORDER BY j.job_id, m.provider LIMIT $4`,
    [...valuesOf(deletion), limit],
  );
  return rows.map(({ kind, uuid, ...row }) => ({ ...row, jobId: jobIdOf({ kind, uuid }) }));
}
