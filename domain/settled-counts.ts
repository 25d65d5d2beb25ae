import { type ItemState, itemStateFromCode } from './item-state.ts';

/** Items that ended alike, by the code of their state. */
export interface EndedCount {
  readonly state: number;
  /** Empty for items that completed. */
  readonly error_code: string;
  readonly items: number;
}

export interface CountsMove {
  /** What is added to the job's count of each state; may be less than nothing. */
  readonly counts: { readonly [state in ItemState]: number };
  /** The job's failures by code, as they are from then on. */
  readonly failures: { readonly [code: string]: number };
}

/**
 * What a settlement does to a job's counts, in which each item it was given counts once, by the last of its tries:
 * `ended` are the outcomes that were added, and `repeated` those of the tries before them, which count no more.
 */
export function moveCounts(
  failures: { readonly [code: string]: number },
  ended: readonly EndedCount[],
  repeated: readonly EndedCount[],
): CountsMove {
  const counts = { pending: 0, submitted: 0, completed: 0, failed: 0, expired: 0, cancelled: 0 };
  const byCode = new Map(Object.entries(failures));
  const add = ({ state, error_code: code }: EndedCount, items: number): void => {
    counts[itemStateFromCode(state)] += items;
    if (code !== '') byCode.set(code, (byCode.get(code) ?? 0) + items);
  };
  for (const group of ended) add(group, group.items);
  for (const group of repeated) add(group, -group.items);
  return { counts, failures: Object.fromEntries([...byCode].filter(([, items]) => items !== 0)) };
}
