import { type FailureCode, retryRuleOfCode } from './failure.ts';
import { FAILURE_MESSAGES } from './failure-messages.ts';

/** Failures that a task can come to, each under its own name in the words of the task surface. */
const CODE_OF_FAILURE = {
  provider_server_error: 'PROVIDER_SERVER_ERROR',
  provider_overloaded: 'PROVIDER_OVERLOADED',
  provider_timeout: 'PROVIDER_TIMEOUT',
  provider_unreachable: 'PROVIDER_UNREACHABLE',
  worker_lost: 'LEASE_LOST',
  no_provider_detail: 'NO_PROVIDER_DETAIL',
  unknown_provider_error: 'UNKNOWN_PROVIDER_ERROR',
  provider_account_exhausted: 'PROVIDER_ACCOUNT_EXHAUSTED',
  provider_credential_rejected: 'PROVIDER_CREDENTIAL_REJECTED',
  rate_limited: 'RATE_LIMITED',
  malformed_result: 'MALFORMED_RESULT',
  invalid_request: 'INVALID_REQUEST',
  context_too_long: 'CONTEXT_TOO_LONG',
  model_unavailable: 'MODEL_UNAVAILABLE',
  safety_blocked: 'SAFETY_BLOCKED',
  job_cancelled: 'CANCELLED',
} as const satisfies { readonly [code in FailureCode]?: string };

/** What a task that failed shows as `error.code`. The list is closed. */
export type TaskErrorCode = (typeof CODE_OF_FAILURE)[keyof typeof CODE_OF_FAILURE];
export const TASK_ERROR_CODES: readonly TaskErrorCode[] = Object.values(CODE_OF_FAILURE);

/** In a task's history alone: its worker stopped in order and gave it back, which counts as no attempt. */
export const WORKER_STOPPED = 'WORKER_STOPPED';

/** Codes that batches alone can come to are no task's; one of them is as good as a failure that nobody knows. */
export function taskErrorCode(code: FailureCode): TaskErrorCode {
  const known: { readonly [code in FailureCode]?: TaskErrorCode } = CODE_OF_FAILURE;
  return known[code] ?? 'UNKNOWN_PROVIDER_ERROR';
}

const CANCELLED_MESSAGE = 'The task was cancelled.';

/** What a tenant is told of a task that failed so: ours, without a provider's words. */
export function taskErrorMessage(code: string): string {
  if (code === 'CANCELLED') return CANCELLED_MESSAGE;
  const [failure] = Object.entries(CODE_OF_FAILURE).find(([, own]) => own === code) ?? [];
  return FAILURE_MESSAGES[(failure ?? 'unknown_provider_error') as FailureCode];
}

/**
 * Whether the same request may well succeed the next time, so that the task is tried again: trouble of the provider or of the
 * way to it, rate limits, workers that were lost. What is wrong with the request, what was blocked for safety, a refused
 * credential and an empty account end it at once.
 */
export function isTransient(code: FailureCode): boolean {
  return retryRuleOfCode(code) === 'automatic';
}

/** Each wait is so many times the one before: with five attempts the last comes some 80 seconds after the first. */
const GROWTH = 3;
const MAX_BACKOFF_MS = 5 * 60_000;
/** A provider may ask for more, but then it is no matter of this task's time. */
export const MAX_TASK_RETRY_AFTER_MS = 10 * 60_000;
/** Tasks that were refused together must not all come back in the same moment. */
const RETRY_AFTER_JITTER = 0.2;

export interface FailedTaskAttempt {
  readonly code: FailureCode;
  /** Attempts that counted so far, this one included. */
  readonly attempts: number;
  readonly maxAttempts: number;
  /** Before the second attempt, on average. */
  readonly firstDelayMs: number;
  /** What the provider asked for; null where it asked for nothing. */
  readonly retryAfterMs: number | null;
  /** From 0 up to 1, made outside. */
  readonly random01: number;
}

/**
 * Milliseconds until a task is tried again: 2 s unless set otherwise, three times as long each time up to five minutes, from
 * half to one and a half of it by chance; never before the provider's own Retry-After, as far as that is ten minutes. Null
 * where it is not tried again.
 */
export function nextAttemptDelay(failed: FailedTaskAttempt): number | null {
  const { code, attempts, maxAttempts, firstDelayMs, retryAfterMs, random01 } = failed;
  if (!isTransient(code) || attempts >= maxAttempts) return null;
  const longest = Math.max(MAX_BACKOFF_MS, firstDelayMs);
  const grown = Math.min(firstDelayMs * GROWTH ** Math.min(Math.max(0, attempts - 1), 30), longest);
  const asked = Math.min(retryAfterMs ?? 0, MAX_TASK_RETRY_AFTER_MS) * (1 + RETRY_AFTER_JITTER * random01);
  return Math.ceil(Math.max(grown * (0.5 + random01), asked));
}
