import type pg from 'pg';
import { findBucket } from '../domain/bucket.ts';
import type { ExecutionTimes } from '../domain/execution-times.ts';
import { type Amount, formatNumeric } from '../domain/money.ts';
import type { Endpoint } from '../domain/provider.ts';
import type { RetryPolicy } from '../domain/retry-policy.ts';
import type { StorageTerms } from '../domain/storage-terms.ts';
import { toUuid } from './ids.ts';
import { type JobScope, jobCondition, scopeCondition } from './job-scope.ts';
import { type JobRecord, type JobViewRow, SELECT_JOB, toJobRecord } from './job-view.ts';
import { readTenantTerms, TERMS_COLUMNS, termsValues } from './storage-terms.ts';
import { toStoredRetryPolicy } from './stored-retry-policy.ts';

type Queryable = Pick<pg.ClientBase, 'query'>;

export interface NewJob {
  readonly jobId: string;
  readonly tenantId: string;
  readonly projectId: string | null;
  readonly customerId: string | null;
  readonly apiKeyId: string;
  readonly endpoint: Endpoint;
  readonly model: string;
  readonly name: string | null;
  readonly metadata: Record<string, string>;
  readonly requestDefaults: string | null;
  readonly execution: Record<string, unknown>;
  /** None of its own where absent. */
  readonly times?: ExecutionTimes;
  /** None where absent. */
  readonly retryPolicy?: RetryPolicy | null;
  readonly maxCost: Amount | null;
  readonly currency: string;
  readonly createdAt: Date;
  /** Those of the tenant where absent. */
  readonly terms?: StorageTerms;
}

/** A batch job, or without a scope the batch of a run. Null for an unknown, malformed or foreign id alike. */
export async function findJob(db: Queryable, scope: JobScope | null, jobId: string): Promise<JobRecord | null> {
  const condition = jobCondition(scope, jobId, 'j');
  if (condition === null) return null;
  const { rows } = await db.query<JobViewRow>(`${SELECT_JOB} WHERE ${condition.sql}`, condition.values);
  return rows[0] === undefined ? null : toJobRecord(rows[0]);
}

/** A draft without items. */
export async function insertJob(db: Queryable, job: NewJob): Promise<void> {
  const terms = job.terms ?? (await readTenantTerms(db, job.tenantId));
  await db.query(
    `INSERT INTO batch_jobs (job_id, bucket, tenant_id, project_id, customer_id, api_key_id, endpoint, requested_model,
       name, metadata, request_defaults, execution, max_cost, currency, created_at, retry_policy, deadline, not_before,
       ${TERMS_COLUMNS})
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22)`,
    [
      toUuid('job', job.jobId),
      findBucket(job.jobId),
      job.tenantId,
      job.projectId,
      job.customerId,
      job.apiKeyId,
      job.endpoint,
      job.model,
      job.name,
      JSON.stringify(job.metadata),
      job.requestDefaults,
      JSON.stringify(job.execution),
      job.maxCost === null ? null : formatNumeric(job.maxCost),
      job.currency,
      job.createdAt,
      job.retryPolicy == null ? null : JSON.stringify(toStoredRetryPolicy(job.retryPolicy)),
      job.times?.deadline ?? null,
      job.times?.notBefore ?? null,
      ...termsValues(terms),
    ],
  );
}

export interface JobFilter {
  readonly status?: string | undefined;
  readonly customerId?: string | undefined;
  readonly projectId?: string | undefined;
  readonly apiKeyId?: string | undefined;
  readonly model?: string | undefined;
  /** Created at or after. */
  readonly createdAfter?: Date | undefined;
  readonly createdBefore?: Date | undefined;
  readonly metadata: Record<string, string>;
}

/** Where a page of jobs ended. */
export interface JobPosition {
  readonly createdAt: Date;
  readonly uuid: string;
}

/** Batch jobs, newest first. */
export async function listJobs(
  db: Queryable,
  scope: JobScope | null,
  filter: JobFilter,
  page: { readonly after: JobPosition | null; readonly limit: number },
): Promise<JobRecord[]> {
  const condition = scopeCondition(scope, 'j', 1);
  const values = [...condition.values];
  const conditions = ["j.kind = 'batch'", condition.sql];
  const where = (sql: (...parameters: string[]) => string, ...given: unknown[]) => {
    conditions.push(sql(...given.map((_, index) => `$${values.length + index + 1}`)));
    values.push(...given);
  };
  const columns = [
    ['state', filter.status],
    ['customer_id', filter.customerId],
    ['project_id', filter.projectId],
    ['api_key_id', filter.apiKeyId],
    ['requested_model', filter.model],
  ] as const;
  for (const [column, value] of columns) {
    if (value !== undefined) where((parameter) => `j.${column} = ${parameter}`, value);
  }
  if (filter.createdAfter !== undefined) where((time) => `j.created_at >= ${time}`, filter.createdAfter);
  if (filter.createdBefore !== undefined) where((time) => `j.created_at < ${time}`, filter.createdBefore);
  if (Object.keys(filter.metadata).length > 0) {
    where((pairs) => `j.metadata @> ${pairs}::jsonb`, JSON.stringify(filter.metadata));
  }
  if (page.after !== null) {
    where((time, uuid) => `(j.created_at, j.job_id) < (${time}, ${uuid}::uuid)`, page.after.createdAt, page.after.uuid);
  }
  const { rows } = await db.query<JobViewRow>(
    `${SELECT_JOB} WHERE ${conditions.join(' AND ')} ORDER BY j.created_at DESC, j.job_id DESC LIMIT $${values.length + 1}`,
    [...values, page.limit],
  );
  return rows.map(toJobRecord);
}
