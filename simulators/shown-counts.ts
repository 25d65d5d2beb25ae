import type { FaultAction } from './fault-actions.ts';

/** A batch's counts as a fault wants them shown; undefined when it wants none. */
export function shownCounts(
  counts: Readonly<Record<string, number>>,
  wanted: FaultAction['counts'],
): Record<string, number | string> | undefined {
  switch (wanted) {
    case undefined:
      return counts;
    case 'absent':
      return undefined;
    case 'zero':
      return mapped(counts, () => 0);
    case 'strings':
      return mapped(counts, String);
    default:
      return { ...counts, ...wanted };
  }
}

function mapped<T>(counts: Readonly<Record<string, number>>, change: (count: number) => T): Record<string, T> {
  return Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, change(count)]));
}
