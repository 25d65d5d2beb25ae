import type pg from 'pg';
import type { JobKind } from '../domain/job-kind.ts';
import type { JobState } from '../domain/job-state.ts';
import { type Amount, parseNumeric } from '../domain/money.ts';
import type { OveragePolicy } from '../domain/overage.ts';
import type { PriceMode } from '../domain/pricing.ts';
import type { Endpoint, Provider } from '../domain/provider.ts';
import type { RetryPolicy } from '../domain/retry-policy.ts';
import type { StorageTerms } from '../domain/storage-terms.ts';
import { jobIdOf, parseJobId } from './ids.ts';
import { TERMS_COLUMNS, type TermsRow, toStorageTerms } from './storage-terms.ts';
import { fromStoredRetryPolicy } from './stored-retry-policy.ts';

type Queryable = Pick<pg.Pool, 'query'>;

/** What finds a job's rows in every table, and what they stand for: its money is on record by that name. */
export interface JobKey {
  readonly kind: JobKind;
  readonly uuid: string;
  readonly bucket: number;
}

/** A job as the gateway's own code works with it. */
export interface JobRow {
  readonly key: JobKey;
  readonly kind: JobKind;
  /** The public id: `job_…`, `task_…` or `run_…` by its kind. */
  readonly jobId: string;
  readonly tenantId: string;
  readonly projectId: string | null;
  readonly customerId: string | null;
  readonly apiKeyId: string;
  readonly endpoint: Endpoint;
  readonly requestedModel: string;
  readonly resolvedProvider: Provider | null;
  readonly resolvedProviderModel: string | null;
  readonly state: JobState;
  /** JSON text. */
  readonly requestDefaults: string | null;
  readonly maxItemsPerShard: number | null;
  /** Where it has to be processed; null for anywhere. */
  readonly region: string | null;
  /** The only providers it may run on; null for any. */
  readonly providers: readonly Provider[] | null;
  /** Which failed items it tries again by itself; null for none. */
  readonly retryPolicy: RetryPolicy | null;
  /** When open work is cut off; null where the job sets no end of its own. */
  readonly deadline: Date | null;
  /** Before this nothing is sent; null for at once. */
  readonly notBefore: Date | null;
  readonly maxCost: Amount | null;
  readonly currency: string;
  /** By which of its models' prices its items are charged. */
  readonly priceMode: PriceMode;
  readonly submissionNo: number;
  readonly admittedAt: Date | null;
  readonly manifestNo: number;
  readonly firstItemNo: number;
  readonly itemCount: number;
  readonly reservedAmount: Amount | null;
  /** The tenant's when the job was accepted; null before. */
  readonly overagePolicy: OveragePolicy | null;
  readonly cancelRequestedAt: Date | null;
  readonly submittedAt: Date | null;
  /** The id of the key that submitted it. */
  readonly submittedBy: string | null;
  readonly terms: StorageTerms;
}

/** Throws for an id no job has. */
export async function getJobRow(db: Queryable, jobId: string): Promise<JobRow> {
  return readJobRow(db, jobId, '');
}

/** As `getJobRow`, with the row locked until the transaction ends: always the first lock of a transaction about a job. */
export async function lockJobRow(client: pg.PoolClient, jobId: string): Promise<JobRow> {
  return readJobRow(client, jobId, 'FOR NO KEY UPDATE');
}

/** As `lockJobRow`, for a job that its owner may have deleted meanwhile. */
export async function findLockedJobRow(client: pg.PoolClient, jobId: string): Promise<JobRow | null> {
  return findJobRow(client, jobId, 'FOR NO KEY UPDATE');
}

async function readJobRow(db: Queryable, jobId: string, lock: Lock): Promise<JobRow> {
  const job = await findJobRow(db, jobId, lock);
  if (job === null) throw new Error(`no job ${jobId}`);
  return job;
}

type Lock = '' | 'FOR NO KEY UPDATE';

/** Null for a job that is not there, and for an id that says another kind than its job is of. */
export async function findJobRow(db: Queryable, jobId: string, lock: Lock = ''): Promise<JobRow | null> {
  const named = parseJobId(jobId);
  const values = [named?.uuid ?? null, named?.kind ?? null];
  const { rows } = await db.query(`SELECT ${COLUMNS} FROM batch_jobs WHERE job_id = $1 AND kind = $2 ${lock}`, values);
  return rows[0] === undefined ? null : toJobRow(rows[0]);
}

/** By name, so that the statement can be prepared; see db/prepared.ts. */
const COLUMNS = `kind, job_id, bucket, tenant_id, project_id, customer_id, api_key_id, endpoint, requested_model, resolved_provider,
  resolved_provider_model, state, request_defaults, execution, retry_policy, deadline, not_before, max_cost, currency, price_mode,
  submission_no, admitted_at, manifest_no, first_item_no, item_count, reserved_amount, overage_policy, cancel_requested_at,
  submitted_at, submitted_by, ${TERMS_COLUMNS}`;

/** `batch_jobs.execution`, as create_job was given it. */
export interface StoredExecution {
  readonly max_items_per_shard?: number;
  readonly region?: string;
  readonly providers?: readonly Provider[];
}

function toJobRow(row: Record<string, unknown>): JobRow {
  const get = <Value>(column: string): Value => row[column] as Value;
  const amount = (column: string): Amount | null => {
    const text = get<string | null>(column);
    return text === null ? null : parseNumeric(text);
  };
  const execution = get<StoredExecution>('execution');
  const key: JobKey = { kind: get('kind'), uuid: get('job_id'), bucket: get('bucket') };
  return {
    key,
    kind: key.kind,
    jobId: jobIdOf(key),
    tenantId: get('tenant_id'),
    projectId: get('project_id'),
    customerId: get('customer_id'),
    apiKeyId: get('api_key_id'),
    endpoint: get('endpoint'),
    requestedModel: get('requested_model'),
    resolvedProvider: get('resolved_provider'),
    resolvedProviderModel: get('resolved_provider_model'),
    state: get('state'),
    requestDefaults: get('request_defaults'),
    maxItemsPerShard: execution.max_items_per_shard ?? null,
    region: execution.region ?? null,
    providers: execution.providers ?? null,
    retryPolicy: fromStoredRetryPolicy(get('retry_policy')),
    deadline: get('deadline'),
    notBefore: get('not_before'),
    maxCost: amount('max_cost'),
    currency: get('currency'),
    priceMode: get('price_mode'),
    submissionNo: get('submission_no'),
    admittedAt: get('admitted_at'),
    manifestNo: get('manifest_no'),
    firstItemNo: get('first_item_no'),
    itemCount: get('item_count'),
    reservedAmount: amount('reserved_amount'),
    overagePolicy: get('overage_policy'),
    cancelRequestedAt: get('cancel_requested_at'),
    submittedAt: get('submitted_at'),
    submittedBy: get('submitted_by'),
    terms: toStorageTerms(row as unknown as TermsRow),
  };
}
