/** Where a clock stood when it was saved; `realMs` and `virtualMs` are unix milliseconds. */
export interface ClockState {
  realMs: number;
  virtualMs: number;
  speed: number;
}

/** The simulators' time: the real clock, run at `speed` and moved forward at will. All times are unix milliseconds. */
export interface Clock {
  now(): number;
  /** Moves the clock forward; whatever was waiting for a time now past runs at once. */
  advance(byMs: number): void;
  /** Virtual milliseconds per real one, from now on. */
  setSpeed(speed: number): void;
  /** Runs once the clock reads at least `timeMs`; returns a cancel function. */
  at(timeMs: number, run: () => void): () => void;
  /** At once where the time is 0. */
  sleep(forMs: number): Promise<void>;
  state(): ClockState;
  /** Back to real time at speed 1. */
  reset(): void;
  /** Drops everything that waits. */
  stop(): void;
}

// setTimeout overflows above 2^31 − 1 ms and would fire at once.
const LONGEST_TIMER_MS = 2 ** 30;

interface Waiting {
  timeMs: number;
  run: () => void;
  timer: NodeJS.Timeout | undefined;
}

/** `onChange` hears of every jump or change of speed, so that it can be saved. */
export function createClock(saved?: ClockState, onChange: (state: ClockState) => void = () => undefined): Clock {
  let base: ClockState = saved ?? { realMs: 0, virtualMs: 0, speed: 1 };
  const waiting = new Set<Waiting>();

  const now = () => base.virtualMs + (Date.now() - base.realMs) * base.speed;

  const arm = (entry: Waiting) => {
    clearTimeout(entry.timer);
    const realMs = Math.ceil((entry.timeMs - now()) / base.speed);
    entry.timer = setTimeout(() => fire(entry), Math.min(Math.max(realMs, 0), LONGEST_TIMER_MS)).unref();
  };
  const fire = (entry: Waiting) => {
    if (!waiting.has(entry)) return;
    if (now() < entry.timeMs) {
      arm(entry);
      return;
    }
    waiting.delete(entry);
    entry.run();
  };
  const rebase = (byMs: number, speed: number) => {
    base = { realMs: Date.now(), virtualMs: now() + byMs, speed };
    onChange(base);
    for (const entry of waiting) arm(entry);
  };
  const at = (timeMs: number, run: () => void) => {
    const entry: Waiting = { timeMs, run, timer: undefined };
    waiting.add(entry);
    arm(entry);
    return () => {
      clearTimeout(entry.timer);
      waiting.delete(entry);
    };
  };

  return {
    now,
    at,
    advance: (byMs) => rebase(byMs, base.speed),
    setSpeed: (speed) => rebase(0, speed),
    async sleep(forMs) {
      if (forMs <= 0) return;
      await new Promise<void>((resolve) => {
        at(now() + forMs, resolve);
      });
    },
    state: () => base,
    reset() {
      base = { realMs: 0, virtualMs: 0, speed: 1 };
      onChange(base);
      for (const entry of waiting) arm(entry);
    },
    stop() {
      for (const entry of waiting) clearTimeout(entry.timer);
      waiting.clear();
    },
  };
}
