import { Context } from '@temporalio/activity';

/** Tells the server that the activity is alive; also how a cancellation reaches it. Cheap: the SDK throttles. */
export function beat(): void {
  Context.current().heartbeat();
}

/** Aborts when the activity is cancelled or its worker shuts down. */
export function cancellationSignal(): AbortSignal {
  return Context.current().cancellationSignal;
}

const BEAT_EVERY_MS = 5_000;

/** Beats while `work` waits on something that yields no progress of its own, such as an upload. */
export async function whileBeating<Result>(work: () => Promise<Result>): Promise<Result> {
  const context = Context.current();
  const timer = setInterval(() => context.heartbeat(), BEAT_EVERY_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
