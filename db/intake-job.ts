import type pg from 'pg';
import type { JobState } from '../domain/job-state.ts';
import type { JsonObject } from '../domain/json-object.ts';
import type { Endpoint } from '../domain/provider.ts';
import { readTenantPolicy } from '../domain/tenant-policy.ts';
import { toUuid } from './ids.ts';
import { type JobScope, scopeCondition } from './job-scope.ts';

/** What checking the items of a job needs to know of it. All of it is fixed when the job is made, but for state and count. */
export interface IntakeJob {
  readonly uuid: string;
  readonly bucket: number;
  readonly tenantId: string;
  readonly customerId: string | null;
  readonly state: JobState;
  readonly endpoint: Endpoint;
  /** A JSON object as text. */
  readonly requestDefaults: string | null;
  readonly itemCount: number;
  /** Whether the tenant's policy says `allow_email_like_custom_ids`. */
  readonly allowsEmailLikeIds: boolean;
}

/** Null for an unknown, malformed or foreign id alike. */
export async function findIntakeJob(
  db: Pick<pg.ClientBase, 'query'>,
  scope: JobScope | null,
  jobId: string,
): Promise<IntakeJob | null> {
  const uuid = toUuid('job', jobId);
  if (uuid === null) return null;
  const condition = scopeCondition(scope, 'j', 2);
  const { rows } = await db.query<Omit<IntakeJob, 'uuid' | 'allowsEmailLikeIds'> & { readonly policy: JsonObject }>(
    `SELECT j.bucket, j.tenant_id AS "tenantId", j.customer_id AS "customerId", j.state, j.endpoint,
       j.request_defaults AS "requestDefaults", j.item_count AS "itemCount", t.policy
     FROM batch_jobs j JOIN tenants t ON t.tenant_id = j.tenant_id
     WHERE j.job_id = $1 AND j.kind = 'batch' AND ${condition.sql}`,
    [uuid, ...condition.values],
  );
  if (rows[0] === undefined) return null;
  const { policy, ...job } = rows[0];
  return { uuid, ...job, allowsEmailLikeIds: readTenantPolicy(policy).allowsEmailLikeCustomIds };
}

/** The counters of a job while its row is locked. */
export interface LockedDraft {
  readonly uuid: string;
  readonly bucket: number;
  readonly tenantId: string;
  readonly customerId: string | null;
  readonly state: JobState;
  readonly manifestNo: number;
  readonly firstItemNo: number;
  readonly itemCount: number;
  /** Of the requests of its items. */
  readonly itemBytes: number;
  /** Whether its items are those of another job, retried. */
  readonly isRetry: boolean;
}

/**
 * Locks the job until the transaction ends; must be its first statement. The same row says whose the job is, so nothing
 * can come between the check and the lock. Null for an unknown, malformed or foreign id alike.
 */
export async function lockIntakeJob(
  client: pg.PoolClient,
  scope: JobScope | null,
  jobId: string,
): Promise<LockedDraft | null> {
  const uuid = toUuid('job', jobId);
  if (uuid === null) return null;
  const condition = scopeCondition(scope, 'j', 2);
  const { rows } = await client.query<Omit<LockedDraft, 'uuid'>>(
    `SELECT j.bucket, j.tenant_id AS "tenantId", j.customer_id AS "customerId", j.state, j.manifest_no AS "manifestNo",
       j.first_item_no AS "firstItemNo", j.item_count AS "itemCount", j.item_bytes::float8 AS "itemBytes", j.retry_of IS NOT NULL AS "isRetry"
     FROM batch_jobs j WHERE j.job_id = $1 AND j.kind = 'batch' AND ${condition.sql} FOR NO KEY UPDATE`,
    [uuid, ...condition.values],
  );
  return rows[0] === undefined ? null : { uuid, ...rows[0] };
}

/**
 * Whether any item of the manifest has an idempotency key other than its custom id. Asks for the first row at or after the
 * job in the partial index of keys, which no other index can answer: planned by equality it may read the whole job.
 */
export async function hasStoredKeys(client: pg.PoolClient, job: LockedDraft): Promise<boolean> {
  const { rows } = await client.query<{ isOwn: boolean }>(
    `SELECT job_id = $2 AND manifest_no = $3 AS "isOwn" FROM batch_items
     WHERE bucket = $1 AND idempotency_key IS NOT NULL AND (job_id, manifest_no) >= ($2::uuid, $3::integer)
     ORDER BY job_id, manifest_no LIMIT 1`,
    [job.bucket, job.uuid, job.manifestNo],
  );
  return rows[0]?.isOwn === true;
}

/** The job's manifest as it is after a call. Item numbers go on from the last one ever given, so none is used twice. */
export async function updateItemCounters(
  client: pg.PoolClient,
  uuid: string,
  change: { manifestNo: number; firstItemNo: number; itemCount: number; addedBytes: number; isReplaced: boolean },
): Promise<void> {
  await client.query(
    `UPDATE batch_jobs SET manifest_no = $2, first_item_no = $3, item_count = $4,
       item_bytes = CASE WHEN $6 THEN 0 ELSE item_bytes END + $5 WHERE job_id = $1`,
    [uuid, change.manifestNo, change.firstItemNo, change.itemCount, change.addedBytes, change.isReplaced],
  );
}
