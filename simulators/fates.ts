/** How an item ends when nothing interrupts its batch. */
export const FATES = ['succeeds', 'fails', 'hangs', 'vanishes'] as const;
export type Fate = (typeof FATES)[number];

/**
 * How many of the first `finished` items that end at all have ended well and badly; `fates` holds an index into
 * `FATES` for each item in input order.
 */
export function tallyFates(fates: Uint8Array, finished: number): { completed: number; failed: number } {
  const [fails, hangs]: [Fate, Fate] = ['fails', 'hangs'];
  let left = finished;
  let failed = 0;
  for (const code of fates) {
    if (left === 0) break;
    if (FATES[code] === hangs) continue;
    if (FATES[code] === fails) failed += 1;
    left -= 1;
  }
  return { completed: finished - left - failed, failed };
}
