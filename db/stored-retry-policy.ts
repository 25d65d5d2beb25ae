import type { FailureClass } from '../domain/failure.ts';
import type { RetryPolicy } from '../domain/retry-policy.ts';

/** `batch_jobs.retry_policy`, as the job shows it. */
export interface StoredRetryPolicy {
  readonly max_attempts: number;
  readonly classes: readonly FailureClass[];
  readonly backoff: { readonly initial_seconds: number; readonly factor: number; readonly max_seconds: number };
}

export function toStoredRetryPolicy({ maxAttempts, classes, backoff }: RetryPolicy): StoredRetryPolicy {
  const { initialSeconds, factor, maxSeconds } = backoff;
  return {
    max_attempts: maxAttempts,
    classes,
    backoff: { initial_seconds: initialSeconds, factor, max_seconds: maxSeconds },
  };
}

export function fromStoredRetryPolicy(stored: StoredRetryPolicy | null): RetryPolicy | null {
  if (stored === null) return null;
  const { initial_seconds: initialSeconds, factor, max_seconds: maxSeconds } = stored.backoff;
  return {
    maxAttempts: stored.max_attempts,
    classes: stored.classes,
    backoff: { initialSeconds, factor, maxSeconds },
  };
}
