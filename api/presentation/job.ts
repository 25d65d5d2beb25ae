import type { BatchJob } from '../../contracts/job.ts';
import type { JobRecord } from '../../db/job-view.ts';
import { readableUntil } from '../../domain/content-state.ts';
import { FAILURE_CLASSES, FAILURE_CODES, type FailureClass, failureClassOf } from '../../domain/failure.ts';
import { isJsonObject } from '../../domain/json-object.ts';
import { formatAmount } from '../../domain/money.ts';
import { presentRefusal } from './refusal.ts';
import { presentSample } from './sample.ts';
import { presentTime } from './time.ts';

/** The public job object. */
export function presentJob(job: JobRecord): BatchJob {
  const cost = presentCost(job);
  return {
    job_id: job.jobId,
    name: job.name,
    tenant_id: job.tenantId,
    project_id: job.projectId,
    customer_id: job.customerId,
    endpoint: job.endpoint,
    model: job.requestedModel,
    status: job.state,
    waiting: presentWaiting(job),
    counts: presentCounts(job),
    failures: presentFailures(job.failures),
    progress: presentProgress(job),
    estimated_completion_at: presentTime(job.estimatedCompletionAt),
    cost,
    overage: presentOverage(job),
    created_at: job.createdAt.toISOString(),
    submitted_at: presentTime(job.submittedAt),
    completed_at: presentTime(job.completedAt),
    expires_at: presentTime(windowEnd(job)),
    retrieval_deadline: presentTime(readableUntil(job)),
    storage: job.terms.storage,
    content_deleted_at: presentTime(job.contentDeletedAt),
    cancel: presentCancel(job),
    execution: presentExecution(job),
    retry_policy: presentRetryPolicy(job),
    sample: presentSample(job, cost),
    sample_jobs: [...job.sampleJobs],
    retry_of_job_id: job.retryOf,
    retry_jobs: [...job.retryJobs],
    error: isJobError(job.error) ? job.error : null,
    refusal: job.state === 'draft' ? presentRefusal(job.refusal) : null,
    warnings: job.warnings.flatMap(presentWarning),
    unmatched_lines: job.unmatchedLines,
    metadata: job.metadata,
  };
}

function presentWaiting({ waitingReason, waitingSince, createdAt }: JobRecord): BatchJob['waiting'] {
  if (waitingReason === null) return null;
  return { reason: waitingReason, since: (waitingSince ?? createdAt).toISOString() };
}

function presentCounts(job: JobRecord): BatchJob['counts'] {
  const { itemCount, submittedAt, completed, failed, expired, cancelled, retries } = job;
  return {
    total: itemCount,
    submitted: submittedAt === null ? 0 : itemCount,
    completed,
    failed,
    expired,
    cancelled,
    retries,
  };
}

/** The rows count by code; codes of one class are summed. */
function presentFailures(failures: JobRecord['failures']): BatchJob['failures'] {
  const byClass: { [failureClass in FailureClass]?: number } = {};
  for (const [key, count] of Object.entries(failures)) {
    const failureClass = classOf(key);
    if (failureClass !== null && count > 0) byClass[failureClass] = (byClass[failureClass] ?? 0) + count;
  }
  return byClass;
}

function classOf(key: string): FailureClass | null {
  const code = FAILURE_CODES.find((candidate) => candidate === key);
  return code !== undefined ? failureClassOf(code) : (FAILURE_CLASSES.find((candidate) => candidate === key) ?? null);
}

function presentProgress({ progressAsOf, providerCompleted, providerFailed }: JobRecord): BatchJob['progress'] {
  if (progressAsOf === null) return null;
  return { completed: providerCompleted, failed: providerFailed, as_of: progressAsOf.toISOString() };
}

function presentCost(job: JobRecord): BatchJob['cost'] {
  return {
    estimated: job.estimatedAmount === null ? null : formatAmount(job.estimatedAmount),
    reserved: formatAmount(job.reservedAmount ?? 0n),
    held: formatAmount(job.heldAmount),
    settled: formatAmount(job.settledAmount),
    currency: job.currency,
  };
}

function presentOverage({ overage }: JobRecord): BatchJob['overage'] {
  return overage === null ? null : { ...overage, amount: formatAmount(overage.amount) };
}

function presentCancel(job: JobRecord): BatchJob['cancel'] {
  if (job.cancelRequestedAt === null) return null;
  return {
    requested_at: job.cancelRequestedAt.toISOString(),
    by: job.cancelRequestedBy,
    reason: job.cancelReason,
    outcome: CANCEL_OUTCOMES.find((outcome) => outcome === job.cancelOutcome) ?? null,
  };
}

/** Nothing of a job runs past its own deadline. */
function windowEnd({ expiresAt, deadline }: JobRecord): Date | null {
  if (expiresAt === null || deadline === null) return expiresAt;
  return deadline < expiresAt ? deadline : expiresAt;
}

function presentExecution({ execution, deadline, notBefore }: JobRecord): BatchJob['execution'] {
  return {
    max_items_per_shard: execution.max_items_per_shard ?? null,
    region: execution.region ?? null,
    providers: execution.providers === undefined ? null : [...execution.providers],
    deadline: presentTime(deadline),
    not_before: presentTime(notBefore),
  };
}

function presentRetryPolicy({ retryPolicy }: JobRecord): BatchJob['retry_policy'] {
  if (retryPolicy === null) return null;
  const { initialSeconds, factor, maxSeconds } = retryPolicy.backoff;
  return {
    max_attempts: retryPolicy.maxAttempts,
    classes: [...retryPolicy.classes],
    backoff: { initial_seconds: initialSeconds, factor, max_seconds: maxSeconds },
  };
}

const CANCEL_OUTCOMES = ['effective', 'partial', 'too_late'] as const;

function isJobError(error: unknown): error is { code: string; message: string } {
  return typeof error === 'object' && error !== null && 'code' in error && 'message' in error;
}

/** As the workers noted them, without what is theirs to know. */
function presentWarning(noted: unknown): BatchJob['warnings'] {
  if (!isJsonObject(noted) || !('code' in noted) || !('message' in noted)) return [];
  const { code, message, needed, left } = noted;
  return [
    {
      code: String(code),
      message: String(message),
      ...(typeof needed === 'string' && { needed }),
      ...(typeof left === 'string' && { left }),
    },
  ];
}
