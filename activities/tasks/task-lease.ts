import { Context } from '@temporalio/activity';
import type { ActivityDependencies } from '../dependencies.ts';

/**
 * For so long after its last sign of life a worker holds a task: as long as the activity's heartbeat timeout, and renewed with
 * each heartbeat. So a task whose worker died is taken up by another within half a minute.
 */
const LEASE_MS = 15_000;
const RENEW_EVERY_MS = 5_000;

export function leaseEnd(at: Date): Date {
  return new Date(at.getTime() + LEASE_MS);
}

/** The attempt is somebody else's by now: what it still brings counts for nothing. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

/**
 * Holds a task or document while `work` waits for its provider: beats, and renews the lease in its row. `renew` is false where
 * the row is another's by now: then the signal fires with `LeaseLost` as its reason, as it does without it when the activity is
 * cancelled or its worker stops. A row that cannot be reached just now takes nothing away.
 */
export async function whileLeased<Result>(
  { now }: Pick<ActivityDependencies, 'now'>,
  renew: (until: Date) => Promise<boolean>,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const context = Context.current();
  const lost = new AbortController();
  const timer = setInterval(() => {
    context.heartbeat();
    renew(leaseEnd(now())).then(
      (isHeld) => {
        if (!isHeld) lost.abort(new LeaseLost());
      },
      () => undefined,
    );
  }, RENEW_EVERY_MS);
  try {
    return await work(AbortSignal.any([context.cancellationSignal, lost.signal]));
  } catch (error) {
    throw lost.signal.aborted ? lost.signal.reason : error;
  } finally {
    clearInterval(timer);
  }
}
