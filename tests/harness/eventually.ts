import { setTimeout as delay } from 'node:timers/promises';

const STEP_MS = 20;

/**
 * Waits until `fact` holds (returns anything but false, null or undefined), and returns it. Errors of `fact` count as not
 * yet. Gives up after `timeoutMs`, or with the reason of `signal`.
 */
export async function eventually<Fact>(
  fact: () => Fact | Promise<Fact>,
  { timeoutMs = 25_000, signal }: { readonly timeoutMs?: number; readonly signal?: AbortSignal } = {},
): Promise<NonNullable<Fact>> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    signal?.throwIfAborted();
    let last: unknown;
    try {
      const value = await fact();
      if (value !== false && value !== null && value !== undefined) return value;
    } catch (error) {
      last = error;
    }
    if (performance.now() >= deadline) throw new Error(`not true within ${timeoutMs} ms`, { cause: last });
    await delay(STEP_MS);
  }
}
