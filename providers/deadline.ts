import { ProviderError } from './provider-error.ts';

/**
 * Runs one request within `timeoutMs`, its reply's body included (an SDK's own timeout ends at the headers) and ends it
 * when the caller's signal fires. Throws ProviderError `timed_out` or `aborted`; what the request itself threw otherwise.
 */
export async function withDeadline<Reply>(
  { signal, timeoutMs }: { signal: AbortSignal; timeoutMs: number },
  request: (signal: AbortSignal) => Promise<Reply>,
): Promise<Reply> {
  if (signal.aborted) throw abortedError({ mayHaveActed: false });
  const controller = new AbortController();
  const abort = () => controller.abort();
  signal.addEventListener('abort', abort, { once: true });
  const timer = setTimeout(abort, timeoutMs);
  try {
    return await request(controller.signal);
  } catch (error) {
    if (!controller.signal.aborted || isReply(error)) throw error;
    throw signal.aborted
      ? abortedError({ mayHaveActed: true, cause: error })
      : timedOutError({ timeoutMs, cause: error });
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
}

/** An upload gets this much time for its bytes on top of the request's own: 256 kB/s is a poor line. */
const MIN_UPLOAD_BYTES_PER_MS = 256;

/** How long a request may take whose body has `byteCount` bytes. */
export function uploadTimeoutMs(requestTimeoutMs: number, byteCount: number): number {
  return requestTimeoutMs + Math.ceil(byteCount / MIN_UPLOAD_BYTES_PER_MS);
}

/** The caller withdrew. */
export function abortedError(facts: { mayHaveActed: boolean; cause?: unknown }): ProviderError {
  return new ProviderError({
    ...facts,
    code: 'aborted',
    message: 'the call was aborted by its caller',
    isRetryable: false,
  });
}

function timedOutError({ timeoutMs, cause }: { timeoutMs: number; cause: unknown }): ProviderError {
  return new ProviderError({
    code: 'timed_out',
    message: `no complete reply within ${timeoutMs} ms`,
    isRetryable: true,
    mayHaveActed: true,
    cause,
  });
}

/** SDK errors of a reply that did arrive carry its status: the reply says more than the deadline that fired after it. */
function isReply(error: unknown): boolean {
  return error instanceof Error && 'status' in error && typeof error.status === 'number';
}
