/** One line of the report. A ratio of 1 is as fast as what it is compared with, measured in the same run. */
export interface Measurement {
  readonly name: string;
  readonly ratio: number;
  /** What the design asks for: at least this much, or at most. */
  readonly goal: { readonly atLeast: number } | { readonly atMost: number };
  readonly detail: string;
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
