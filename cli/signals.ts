import type { StopSource } from '../local/run-stack.ts';

type Listener = (...details: unknown[]) => void;

/** Longer than two deliveries of one Ctrl-C are apart, shorter than two presses. */
const SAME_PRESS_MS = 300;
const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/**
 * Hears each stop signal once. Under npm one Ctrl-C arrives twice, from the terminal and from npm, and would else count
 * as the second that does not wait.
 */
export function singleSignals(source: StopSource, nowMs: () => number): StopSource {
  const wrapped = new Map<Listener, Listener>();
  let heardMs = Number.NEGATIVE_INFINITY;
  let heardBy = new Set<Listener>();

  function once(listener: Listener): Listener {
    return (...details) => {
      if (nowMs() - heardMs >= SAME_PRESS_MS) {
        heardMs = nowMs();
        heardBy = new Set();
      }
      if (heardBy.has(listener)) return;
      heardBy.add(listener);
      listener(...details);
    };
  }

  return {
    on(event, listener) {
      const heard = STOP_SIGNALS.includes(event) ? (wrapped.get(listener) ?? once(listener)) : listener;
      wrapped.set(listener, heard);
      return source.on(event, heard);
    },
    off: (event, listener) => source.off(event, wrapped.get(listener) ?? listener),
    exit: (code) => source.exit(code),
  };
}

/** As `source`, with a stop of our own: what listens for SIGTERM is told as if one had come. */
export function stoppable(source: StopSource): StopSource & { stop(): void } {
  const listeners = new Set<Listener>();
  return {
    on(event, listener) {
      if (event === 'SIGTERM') listeners.add(listener);
      return source.on(event, listener);
    },
    off(event, listener) {
      if (event === 'SIGTERM') listeners.delete(listener);
      return source.off(event, listener);
    },
    exit: (code) => source.exit(code),
    stop() {
      for (const listener of [...listeners]) listener();
    },
  };
}
