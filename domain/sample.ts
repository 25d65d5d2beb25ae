import type { Amount } from './money.ts';
import { divideHalfEven } from './rounding.ts';

/**
 * Which of a manifest's items a sample takes, by 0-based position: the first of each of `wanted` parts as equal as can
 * be, and so the same ones every time. All of them where there are no more than that.
 */
export function chooseSample(itemCount: number, wanted: number): number[] {
  const parts = Math.min(wanted, itemCount);
  return Array.from({ length: parts }, (_, part) => Math.floor((part * itemCount) / parts));
}

/**
 * What all items would cost at the mean of those of a sample that were settled: exact to 10⁻¹² of the currency, a tie to
 * the even neighbour. Null while none is settled.
 */
export function extrapolateCost(sample: {
  readonly settled: Amount;
  readonly settledItems: number;
  readonly ofItems: number;
}): Amount | null {
  if (sample.settledItems === 0) return null;
  return divideHalfEven(sample.settled * BigInt(sample.ofItems), BigInt(sample.settledItems));
}
