import { remainderOutcome } from '../domain/close-reason.ts';
import type { JobKind } from '../domain/job-kind.ts';
import type { JobState } from '../domain/job-state.ts';
import { type Amount, parseNumeric } from '../domain/money.ts';
import { DEFAULT_OVERAGE_POLICY, type Overage, type OverageOutcome, type OveragePolicy } from '../domain/overage.ts';
import type { Endpoint } from '../domain/provider.ts';
import type { RetryPolicy } from '../domain/retry-policy.ts';
import type { StorageTerms } from '../domain/storage-terms.ts';
import { RAW_OUTPUT } from './artifacts.ts';
import { CUSTOMER_REFUNDS, type CustomerMoney, type CustomerMoneyRow, toCustomerMoney } from './customer-money.ts';
import { fromUuid, jobIdOf } from './ids.ts';
import type { StoredExecution } from './job-rows.ts';
import { type TermsRow, toStorageTerms } from './storage-terms.ts';
import { fromStoredRetryPolicy, type StoredRetryPolicy } from './stored-retry-policy.ts';

/** A job with the small rows about it, as the api shows it. `jobId` is the public id. */
export interface JobRecord {
  readonly kind: JobKind;
  readonly jobId: string;
  readonly uuid: string;
  readonly bucket: number;
  readonly tenantId: string;
  readonly projectId: string | null;
  readonly customerId: string | null;
  readonly apiKeyId: string;
  readonly name: string | null;
  readonly endpoint: Endpoint;
  readonly requestedModel: string;
  readonly resolvedProvider: string | null;
  readonly resolvedProviderModel: string | null;
  readonly state: JobState;
  readonly metadata: Record<string, string>;
  readonly currency: string;
  readonly submissionNo: number;
  readonly admittedAt: Date | null;
  readonly manifestNo: number;
  readonly firstItemNo: number;
  readonly itemCount: number;
  /** It was cancelled before it was accepted: its items ended with it, and none has an outcome of its own. */
  readonly isNeverRun: boolean;
  readonly estimatedAmount: Amount | null;
  readonly reservedAmount: Amount | null;
  /** Still held of the last submission. */
  readonly heldAmount: Amount;
  readonly settledAmount: Amount;
  /** Null where the job's customer is shown what the tenant pays. */
  readonly customerMoney: CustomerMoney | null;
  /** What it cost above its hold when it ended; null without. */
  readonly overage: Overage | null;
  readonly priceBookVersion: string | null;
  readonly waitingReason: string | null;
  readonly waitingSince: Date | null;
  readonly error: unknown;
  readonly refusal: unknown;
  readonly cancelRequestedAt: Date | null;
  readonly cancelRequestedBy: string | null;
  readonly cancelReason: string | null;
  readonly cancelOutcome: string | null;
  readonly createdAt: Date;
  readonly submittedAt: Date | null;
  readonly completedAt: Date | null;
  readonly expiresAt: Date | null;
  readonly retrievalDeadline: Date | null;
  readonly contentDeletedAt: Date | null;
  readonly terms: StorageTerms;
  readonly requestBodyDeletedAt: Date | null;
  /** When the last of the providers' files was deleted there. */
  readonly providerFilesDeletedAt: Date | null;
  /** Whether all result files that came are in the artifact store; null where none came. */
  readonly rawOutput: boolean | null;
  /** The public id of the draft whose items it runs some of, and how many that had. */
  readonly sampleOf: { readonly jobId: string; readonly items: number } | null;
  /** Public ids, newest first. */
  readonly sampleJobs: readonly string[];
  /** The public id of the job whose items it retries. */
  readonly retryOf: string | null;
  /** Public ids, newest first. */
  readonly retryJobs: readonly string[];
  readonly execution: StoredExecution;
  readonly deadline: Date | null;
  readonly notBefore: Date | null;
  readonly retryPolicy: RetryPolicy | null;
  readonly completed: number;
  readonly failed: number;
  readonly expired: number;
  readonly cancelled: number;
  readonly retries: number;
  /** Items that did not complete, by failure class or code. */
  readonly failures: Record<string, number>;
  readonly lastSeq: number;
  readonly unmatchedLines: number;
  readonly warnings: readonly unknown[];
  readonly providerCompleted: number | null;
  readonly providerFailed: number | null;
  readonly progressAsOf: Date | null;
  readonly estimatedCompletionAt: Date | null;
}

/** `batch_jobs` as `j` with what `toJobRecord` reads; a WHERE may follow. */
export const SELECT_JOB = `
  SELECT j.*, p.completed, p.failed, p.expired, p.cancelled, p.retries, p.failures, p.last_seq, p.unmatched_lines,
    p.warnings, p.provider_completed, p.provider_failed, p.progress_as_of, p.estimated_completion_at,
    p.settled_amount AS settled_so_far, p.customer_settled_amount, h.held, r.customer_refunded, ${RAW_OUTPUT} AS raw_output,
    ARRAY(SELECT s.job_id::text FROM batch_jobs s WHERE s.sample_of = j.job_id ORDER BY s.created_at DESC, s.job_id DESC LIMIT 100) AS sample_jobs,
    ARRAY(SELECT s.job_id::text FROM batch_jobs s WHERE s.retry_of = j.job_id ORDER BY s.created_at DESC, s.job_id DESC LIMIT 100) AS retry_jobs
  FROM batch_jobs j
  LEFT JOIN job_progress p ON p.job_id = j.job_id
  ${CUSTOMER_REFUNDS}
  LEFT JOIN LATERAL (
    SELECT max(amount - drawn - coalesce(released, 0)) AS held FROM holds
    WHERE holds.job_id = j.job_id AND holds.submission_no = j.submission_no
  ) h ON true`;

/** What pg gives for SELECT_JOB. */
export interface JobViewRow extends CustomerMoneyRow, TermsRow {
  readonly kind: JobKind;
  readonly job_id: string;
  readonly bucket: number;
  readonly tenant_id: string;
  readonly project_id: string | null;
  readonly customer_id: string | null;
  readonly api_key_id: string;
  readonly name: string | null;
  readonly endpoint: Endpoint;
  readonly requested_model: string;
  readonly resolved_provider: string | null;
  readonly resolved_provider_model: string | null;
  readonly state: JobState;
  readonly metadata: Record<string, string>;
  readonly currency: string;
  readonly submission_no: number;
  readonly admitted_at: Date | null;
  readonly manifest_no: number;
  readonly first_item_no: number;
  readonly item_count: number;
  readonly estimated_amount: string | null;
  readonly reserved_amount: string | null;
  readonly held: string | null;
  readonly settled_so_far: string | null;
  readonly overage_policy: OveragePolicy | null;
  readonly overage_amount: string | null;
  readonly overage_outcome: OverageOutcome | null;
  readonly price_book_version: string | null;
  readonly waiting_reason: string | null;
  readonly waiting_since: Date | null;
  readonly error: unknown;
  readonly refusal: unknown;
  readonly cancel_requested_at: Date | null;
  readonly cancel_requested_by: string | null;
  readonly cancel_reason: string | null;
  readonly cancel_outcome: string | null;
  readonly created_at: Date;
  readonly submitted_at: Date | null;
  readonly expires_at: Date | null;
  readonly retrieval_deadline: Date | null;
  readonly content_deleted_at: Date | null;
  readonly request_body_deleted_at: Date | null;
  readonly provider_files_deleted_at: Date | null;
  readonly raw_output: boolean | null;
  readonly sample_of: string | null;
  readonly sample_of_items: number | null;
  readonly sample_jobs: readonly string[];
  readonly retry_of: string | null;
  readonly retry_jobs: readonly string[];
  readonly execution: StoredExecution;
  readonly deadline: Date | null;
  readonly not_before: Date | null;
  readonly retry_policy: StoredRetryPolicy | null;
  readonly completed: number | null;
  readonly failed: number | null;
  readonly expired: number | null;
  readonly cancelled: number | null;
  readonly retries: number | null;
  readonly failures: Record<string, number> | null;
  readonly last_seq: number | null;
  readonly unmatched_lines: number | null;
  readonly warnings: readonly unknown[] | null;
  readonly provider_completed: number | null;
  readonly provider_failed: number | null;
  readonly progress_as_of: Date | null;
  readonly estimated_completion_at: Date | null;
}

export function toJobRecord(row: JobViewRow): JobRecord {
  return {
    ...identityOf(row),
    ...moneyOf(row),
    ...progressOf(row),
    waitingReason: row.waiting_reason,
    waitingSince: row.waiting_since,
    error: row.error,
    refusal: row.refusal,
    cancelRequestedAt: row.cancel_requested_at,
    cancelRequestedBy: row.cancel_requested_by,
    cancelReason: row.cancel_reason,
    cancelOutcome: row.cancel_outcome,
    createdAt: row.created_at,
    submittedAt: row.submitted_at,
    completedAt: row.completed_at,
    expiresAt: row.expires_at,
    retrievalDeadline: row.retrieval_deadline,
    contentDeletedAt: row.content_deleted_at,
    terms: toStorageTerms(row),
    requestBodyDeletedAt: row.request_body_deleted_at,
    providerFilesDeletedAt: row.provider_files_deleted_at,
    rawOutput: row.raw_output,
    sampleOf:
      row.sample_of === null ? null : { jobId: fromUuid('job', row.sample_of), items: row.sample_of_items ?? 0 },
    sampleJobs: row.sample_jobs.map((uuid) => fromUuid('job', uuid)),
    retryOf: row.retry_of === null ? null : fromUuid('job', row.retry_of),
    retryJobs: row.retry_jobs.map((uuid) => fromUuid('job', uuid)),
    execution: row.execution,
    deadline: row.deadline,
    notBefore: row.not_before,
    retryPolicy: fromStoredRetryPolicy(row.retry_policy),
  };
}

function identityOf(row: JobViewRow) {
  return {
    kind: row.kind,
    jobId: jobIdOf({ kind: row.kind, uuid: row.job_id }),
    uuid: row.job_id,
    bucket: row.bucket,
    tenantId: row.tenant_id,
    projectId: row.project_id,
    customerId: row.customer_id,
    apiKeyId: row.api_key_id,
    name: row.name,
    endpoint: row.endpoint,
    requestedModel: row.requested_model,
    resolvedProvider: row.resolved_provider,
    resolvedProviderModel: row.resolved_provider_model,
    state: row.state,
    metadata: row.metadata,
    submissionNo: row.submission_no,
    admittedAt: row.admitted_at,
    manifestNo: row.manifest_no,
    firstItemNo: row.first_item_no,
    itemCount: row.item_count,
    isNeverRun: isNeverRun(row),
  };
}

function moneyOf(row: JobViewRow) {
  return {
    currency: row.currency,
    estimatedAmount: row.estimated_amount === null ? null : parseNumeric(row.estimated_amount),
    reservedAmount: row.reserved_amount === null ? null : parseNumeric(row.reserved_amount),
    heldAmount: parseNumeric(row.held ?? '0'),
    settledAmount: parseNumeric(row.settled_so_far ?? '0'),
    customerMoney: toCustomerMoney(row),
    overage: overageOf(row),
    priceBookVersion: row.price_book_version,
  };
}

function overageOf({ overage_policy, overage_amount, overage_outcome }: JobViewRow): Overage | null {
  if (overage_amount === null || overage_outcome === null) return null;
  const policy = overage_policy ?? DEFAULT_OVERAGE_POLICY;
  return { amount: parseNumeric(overage_amount), policy, outcome: overage_outcome };
}

const NEVER_RUN_CODE = remainderOutcome('cancelled').failure.code;

function isNeverRun({ state, admitted_at: admittedAt }: JobViewRow): boolean {
  return state === 'cancelled' && admittedAt === null;
}

function progressOf(row: JobViewRow) {
  const items = row.item_count;
  return {
    ...countsOf(row),
    ...(isNeverRun(row) && items > 0 && { cancelled: items, failures: { [NEVER_RUN_CODE]: items }, lastSeq: items }),
  };
}

function countsOf(row: JobViewRow) {
  return {
    completed: row.completed ?? 0,
    failed: row.failed ?? 0,
    expired: row.expired ?? 0,
    cancelled: row.cancelled ?? 0,
    retries: row.retries ?? 0,
    failures: row.failures ?? {},
    lastSeq: row.last_seq ?? 0,
    unmatchedLines: row.unmatched_lines ?? 0,
    warnings: row.warnings ?? [],
    providerCompleted: row.provider_completed,
    providerFailed: row.provider_failed,
    progressAsOf: row.progress_as_of,
    estimatedCompletionAt: row.estimated_completion_at,
  };
}
