import type { StopSource } from '../local/run-stack.ts';
import { exitCode } from './exit-codes.ts';

/** Ctrl-C while a job is handed over or followed. */
export interface Interrupts {
  /** Aborted when it is time to leave. */
  readonly signal: AbortSignal;
  /** From now on the first Ctrl-C only runs this. */
  askFirst(onAsk: () => void): void;
  stopListening(): void;
}

/** A further press while leaving does not wait. SIGTERM and SIGHUP never ask. */
export function listenForInterrupts(signals: StopSource): Interrupts {
  const leaving = new AbortController();
  let ask: (() => void) | undefined;

  function leave(): void {
    if (leaving.signal.aborted) signals.exit(exitCode('interrupted'));
    leaving.abort();
  }
  function press(): void {
    if (ask === undefined) leave();
    else ask();
    ask = undefined;
  }

  signals.on('SIGINT', press);
  signals.on('SIGTERM', leave);
  signals.on('SIGHUP', leave);
  return {
    signal: leaving.signal,
    askFirst: (onAsk) => {
      ask = onAsk;
    },
    stopListening() {
      signals.off('SIGINT', press);
      signals.off('SIGTERM', leave);
      signals.off('SIGHUP', leave);
    },
  };
}
