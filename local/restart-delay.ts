const FIRST_MS = 250;
const MAX_MS = 10_000;
/** A process that ran this long was healthy, so its next failure is the first of a new row. */
const HEALTHY_MS = 30_000;

/** How long to wait before starting a process again after its `failures`-th death in a row (counted from 1). */
export function restartDelayMs(failures: number): number {
  return Math.min(MAX_MS, FIRST_MS * 2 ** (failures - 1));
}

/** Counts deaths in a row, given how long the process had run. */
export function countFailure(failures: number, ranMs: number): number {
  return ranMs >= HEALTHY_MS ? 1 : failures + 1;
}
