import type pg from 'pg';
import { findBucket } from '../domain/bucket.ts';
import type { JobState } from '../domain/job-state.ts';
import type { Endpoint } from '../domain/provider.ts';
import { toUuid } from './ids.ts';
import { type JobScope, scopeCondition } from './job-scope.ts';
import { TERMS_COLUMNS } from './storage-terms.ts';

/** A job whose items are to be retried, while its row is locked. */
export interface RetrySource {
  readonly uuid: string;
  readonly bucket: number;
  readonly tenantId: string;
  readonly projectId: string | null;
  readonly customerId: string | null;
  readonly state: JobState;
  readonly manifestNo: number;
  readonly endpoint: Endpoint;
  /** A JSON object as text. */
  readonly requestDefaults: string | null;
  /** False once its requests were deleted, or where they are not kept beyond its end. */
  readonly hasRequests: boolean;
}

/** The job that retries items of another one. */
export interface RetryTarget {
  readonly uuid: string;
  readonly bucket: number;
}

/** Locks the job until the transaction ends. Null for an unknown, malformed or foreign id alike. */
export async function lockRetrySource(
  client: pg.PoolClient,
  scope: JobScope,
  jobId: string,
): Promise<RetrySource | null> {
  const uuid = toUuid('job', jobId);
  if (uuid === null) return null;
  const condition = scopeCondition(scope, 'j', 2);
  const { rows } = await client.query<Omit<RetrySource, 'uuid'>>(
    `SELECT j.bucket, j.tenant_id AS "tenantId", j.project_id AS "projectId", j.customer_id AS "customerId", j.state,
       j.manifest_no AS "manifestNo", j.endpoint, j.request_defaults AS "requestDefaults",
       j.content_deleted_at IS NULL AND j.request_body_deleted_at IS NULL AND j.storage NOT IN ('pointers', 'hashes') AS "hasRequests"
     FROM batch_jobs j WHERE j.job_id = $1 AND j.kind = 'batch' AND ${condition.sql} FOR NO KEY UPDATE`,
    [uuid, ...condition.values],
  );
  return rows[0] === undefined ? null : { uuid, ...rows[0] };
}

/**
 * Makes a draft without items that takes its settings from the job it retries, but for a deadline that has passed. Null
 * as `model` keeps the model too.
 */
export async function insertRetryJob(
  client: pg.PoolClient,
  source: RetrySource,
  job: { readonly jobId: string; readonly apiKeyId: string; readonly model: string | null; readonly createdAt: Date },
): Promise<RetryTarget> {
  const uuid = toUuid('job', job.jobId);
  const bucket = findBucket(job.jobId);
  if (uuid === null || bucket === null) throw new Error('a new job has a malformed id');
  await client.query(
    `INSERT INTO batch_jobs (job_id, bucket, tenant_id, project_id, customer_id, api_key_id, endpoint, requested_model,
       name, metadata, request_defaults, execution, max_cost, currency, created_at, retry_policy, deadline, not_before, retry_of, ${TERMS_COLUMNS})
     SELECT $1, $2, tenant_id, project_id, customer_id, $4, endpoint, coalesce($5, requested_model),
       name, metadata, request_defaults, CASE WHEN deadline <= $6 THEN execution - 'deadline' ELSE execution END, max_cost,
       currency, $6, retry_policy, CASE WHEN deadline > $6 THEN deadline END, not_before, job_id, ${TERMS_COLUMNS}
     FROM batch_jobs WHERE job_id = $3`,
    [uuid, bucket, source.uuid, job.apiKeyId, job.model, job.createdAt],
  );
  return { uuid, bucket };
}
