import type { ExecutionTimes } from '../domain/execution-times.ts';
import { type Amount, parseAmount } from '../domain/money.ts';
import type { Endpoint } from '../domain/provider.ts';
import type { RetryPolicy } from '../domain/retry-policy.ts';
import type { StoragePolicy } from '../domain/tenant-policy.ts';
import type { CreateJob } from './create-job.ts';
import { readRetryPolicy } from './retry-policy.ts';

/** What a job is made with, in the gateway's own terms. */
export interface JobSettings {
  readonly endpoint: Endpoint;
  readonly model: string;
  readonly name: string | null;
  readonly metadata: Record<string, string>;
  /** JSON text. */
  readonly requestDefaults: string | null;
  /** As given, but for the times. */
  readonly execution: Record<string, unknown>;
  readonly times: ExecutionTimes;
  readonly retryPolicy: RetryPolicy | null;
  readonly maxCost: Amount | null;
  /** Null for the tenant's. */
  readonly storage: StoragePolicy | null;
  /** Who is told of this job alone; null event types are all. */
  readonly webhook: { readonly url: string; readonly eventTypes: readonly string[] | null } | null;
}

export function readJobSettings(job: CreateJob): JobSettings {
  const { name = null, metadata = {}, request_defaults: defaults, max_cost: maxCost } = job;
  const { deadline, not_before: notBefore, ...execution } = job.execution ?? {};
  return {
    endpoint: job.endpoint,
    model: job.model,
    name,
    metadata,
    requestDefaults: defaults === undefined ? null : JSON.stringify(defaults),
    execution,
    times: { deadline: readTime(deadline), notBefore: readTime(notBefore) },
    retryPolicy: job.retry_policy === undefined ? null : readRetryPolicy(job.retry_policy),
    maxCost: maxCost === undefined ? null : parseAmount(maxCost),
    storage: job.storage ?? null,
    webhook: job.webhook === undefined ? null : { url: job.webhook.url, eventTypes: job.webhook.event_types ?? null },
  };
}

function readTime(text: string | undefined): Date | null {
  return text === undefined ? null : new Date(text);
}
