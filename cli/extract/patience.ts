import type { Context } from '../command.ts';
import { CommandError } from '../errors.ts';

/** What passes by itself, once others have made room or a minute is over. */
const TOO_MANY = ['rate_limited', 'concurrency_limit', 'job_busy'];
const DEFAULT_WAIT_SECONDS = 5;

/**
 * Makes a call; where the gateway says that there are too many, waits for as long as it says and makes it again. Throws every other
 * refusal, and INTERRUPTED once the signal is aborted.
 */
export async function whenThereIsRoom<Result>(
  call: () => Promise<Result>,
  signal: AbortSignal,
  { sleep }: Pick<Context, 'sleep'>,
): Promise<Result> {
  for (;;) {
    if (signal.aborted) throw INTERRUPTED;
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof CommandError) || !TOO_MANY.includes(error.facts.error)) throw error;
      await sleep((error.facts.retry_after_seconds ?? DEFAULT_WAIT_SECONDS) * 1_000, signal);
    }
  }
}

export const INTERRUPTED = new CommandError('interrupted', { error: 'interrupted', message: 'Interrupted.' });
