import type { ActivityDependencies } from '../activities/dependencies.ts';
import { returnUndispatched, type StartableDelivery, takeUndispatched } from '../db/webhook-deliveries.ts';

type Dependencies = Pick<ActivityDependencies, 'db' | 'deliveries' | 'now' | 'log'>;

/** One probe of an index that is empty most of the time; also the longest that a committed event waits for its first attempt. */
const LOOK_EVERY_MS = 500;
const TAKEN_AT_ONCE = 100;
const STARTED_AT_ONCE = 20;
/** After a fault: Postgres or Temporal is away. */
const PAUSE_MS = 5_000;

/** Starts the workflows of webhooks whose events were committed. What it leaves undone, a sweep finds. */
export function startWebhookDispatcher(dependencies: Dependencies): { stop(): Promise<void> } {
  const stopped = new AbortController();
  const running = run(dependencies, stopped.signal);
  return {
    stop: async () => {
      stopped.abort();
      await running;
    },
  };
}

async function run(dependencies: Dependencies, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    let waitMs = LOOK_EVERY_MS;
    try {
      if ((await dispatchWebhooks(dependencies)) === TAKEN_AT_ONCE) waitMs = 0;
    } catch (error) {
      if (signal.aborted) return;
      const facts = { error: error instanceof Error ? error.name : typeof error };
      dependencies.log.warn(facts, 'webhooks could not be dispatched; trying again');
      waitMs = PAUSE_MS;
    }
    await pause(waitMs, signal);
  }
}

/** One look; answers how many were started. Throws where any could not be, which are there for the next look then. */
export async function dispatchWebhooks({ db, deliveries, now }: Dependencies): Promise<number> {
  const taken = await takeUndispatched(db.pool, now(), TAKEN_AT_ONCE);
  const failed: StartableDelivery[] = [];
  let fault: unknown = null;
  for (let first = 0; first < taken.length; first += STARTED_AT_ONCE) {
    const some = taken.slice(first, first + STARTED_AT_ONCE).map(async (delivery) => {
      try {
        await deliveries.start(delivery);
      } catch (error) {
        fault = error;
        failed.push(delivery);
      }
    });
    await Promise.all(some);
  }
  if (failed.length === 0) return taken.length;
  await returnUndispatched(
    db.pool,
    failed.map(({ deliveryId }) => deliveryId),
  );
  throw fault;
}

/** Until the time is over, or the signal says stop. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = () => {
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
    resolve();
  };
  const timer = setTimeout(end, ms);
  signal.addEventListener('abort', end);
  if (signal.aborted) end();
  return promise;
}
