/** One line of the report. A ratio of 1 is as fast as what it is compared with, measured in the same run. */
export interface Measurement {
  readonly name: string;
  readonly ratio: number;
  /** What the design asks for: at least this much, or at most. */
  readonly goal: { readonly atLeast: number } | { readonly atMost: number };
  readonly detail: string;
}

/** Of how time grows with size: 1 is in proportion. From the smallest to the largest of what was measured. */
export function growthOf(what: string, times: ReadonlyMap<number, number>): Measurement[] {
  const sizes = [...times.keys()].toSorted((left, right) => left - right);
  const [small, large] = [sizes.at(0), sizes.at(-1)];
  if (small === undefined || large === undefined || small === large) return [];
  const [smallMs, largeMs] = [times.get(small) ?? Number.NaN, times.get(large) ?? Number.NaN];
  const ratio = Math.log(largeMs / smallMs) / Math.log(large / small);
  const detail = `${Math.round(smallMs)} ms for ${count(small)}, ${Math.round(largeMs)} ms for ${count(large)}`;
  return [{ name: `growth exponent of ${what}`, ratio, goal: { atMost: 1.05 }, detail }];
}

/** The most memory this process ever held, with everything the measurement itself keeps. */
export function peakMemory(): string {
  return `peak of this process ${Math.round(process.resourceUsage().maxRSS / 1_000)} MB, the measurement's own data included`;
}

export function count(items: number): string {
  return items.toLocaleString('en');
}

export function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? Number.NaN;
}

export function perSecond(items: number, ms: number): string {
  return `${Math.round((items / ms) * 1_000).toLocaleString('en')}/s`;
}

export function meetsGoal({ ratio, goal }: Measurement): boolean {
  return 'atLeast' in goal ? ratio >= goal.atLeast : ratio <= goal.atMost;
}
