import type { StopSource } from '../local/run-stack.ts';
import { exitCode } from './exit-codes.ts';

/** Ctrl-C while a job is handed over or followed. */
export interface Interrupts {
  /** Aborted when it is time to leave. */
  readonly signal: AbortSignal;
  /** From now on the first Ctrl-C only asks. */
  askFirst(): void;
  /** True after a first Ctrl-C that only asked. */
  wasAsked(): boolean;
  stopListening(): void;
}

/** A further press while leaving does not wait. SIGTERM and SIGHUP never ask. */
export function listenForInterrupts(signals: StopSource): Interrupts {
  const leaving = new AbortController();
  let asksFirst = false;
  let asked = false;

  function leave(): void {
    if (leaving.signal.aborted) signals.exit(exitCode('interrupted'));
    leaving.abort();
  }
  function press(): void {
    if (asksFirst && !asked) asked = true;
    else leave();
  }

  signals.on('SIGINT', press);
  signals.on('SIGTERM', leave);
  signals.on('SIGHUP', leave);
  return {
    signal: leaving.signal,
    askFirst: () => {
      asksFirst = true;
    },
    wasAsked: () => asked,
    stopListening() {
      signals.off('SIGINT', press);
      signals.off('SIGTERM', leave);
      signals.off('SIGHUP', leave);
    },
  };
}
