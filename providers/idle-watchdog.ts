import { abortedError } from './deadline.ts';
import { toNetworkError } from './network-error.ts';
import { ProviderError } from './provider-error.ts';

/**
 * The chunks of a reply's body, as long as the next one comes within `idleTimeoutMs` of being asked for: SDK timeouts end
 * at the headers. Time the consumer spends between chunks does not count. Throws ProviderError `timed_out`, `aborted`
 * (the signal) or `connection_lost` (the body was cut). However it ends, the connection is released.
 */
export async function* watchIdle(
  body: ReadableStream<Uint8Array>,
  { idleTimeoutMs, signal }: { idleTimeoutMs: number; signal: AbortSignal },
): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = body.getReader();
  let isWaiting = true;
  let isIdle = false;
  // A cancelled reader answers its pending read with `done` at once, even where the source is stuck.
  const cancel = () => void reader.cancel().catch(() => {});
  const timer = setTimeout(() => {
    if (!isWaiting) return;
    isIdle = true;
    cancel();
  }, idleTimeoutMs);
  signal.addEventListener('abort', cancel, { once: true });
  let isComplete = false;
  try {
    if (signal.aborted) throw abortedError({ mayHaveActed: true });
    for (;;) {
      const { done, value } = await reader.read();
      isWaiting = false;
      if (signal.aborted) throw abortedError({ mayHaveActed: true });
      if (isIdle) throw idleError(idleTimeoutMs);
      if (done) break;
      yield value;
      isWaiting = true;
      timer.refresh();
    }
    isComplete = true;
  } catch (error) {
    throw signal.aborted ? abortedError({ mayHaveActed: true, cause: error }) : toNetworkError(error);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', cancel);
    if (!isComplete) cancel();
  }
}

function idleError(idleTimeoutMs: number): ProviderError {
  return new ProviderError({
    code: 'timed_out',
    message: `no byte of the body for ${idleTimeoutMs} ms`,
    isRetryable: true,
    mayHaveActed: true,
  });
}
