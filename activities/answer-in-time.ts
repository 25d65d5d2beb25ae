import { Context } from '@temporalio/activity';
import { ProviderError } from '../providers/provider-error.ts';

/** Of the activity's time, kept to write down that no answer came. */
const RECORDING_MS = 10_000;

/**
 * Asks a provider, and gives up while the activity still has time to say so: a provider that never answers is then an
 * answer of a kind, and not an activity that times out and is begun anew for ever. Throws ProviderError `timed_out` for
 * it, and `aborted` when the activity itself was cancelled.
 */
export async function answerInTime<Answer>(ask: (signal: AbortSignal) => Promise<Answer>): Promise<Answer> {
  const { cancellationSignal, info } = Context.current();
  const leftMs = info.startToCloseTimeoutMs - RECORDING_MS;
  if (leftMs <= 0) return ask(cancellationSignal);
  try {
    return await ask(AbortSignal.any([cancellationSignal, AbortSignal.timeout(leftMs)]));
  } catch (error) {
    if (!(error instanceof ProviderError) || error.code !== 'aborted' || cancellationSignal.aborted) throw error;
    const message = `no answer within ${leftMs} ms`;
    throw new ProviderError({ code: 'timed_out', message, isRetryable: true, mayHaveActed: true, cause: error });
  }
}
