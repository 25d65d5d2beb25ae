import type { ItemGroup } from './admission-facts.ts';
import { quoteJob } from './job-quote.ts';
import type { ChosenTarget } from './judge-target.ts';
import type { Amount } from './money.ts';
import { type EndedKind, type RetryPolicy, takesAgain } from './retry-policy.ts';
import type { Calibration } from './token-calibration.ts';

/** Items of one kind that ended alike and that nothing follows yet. Sums as in a manifest's groups. */
export interface EndedGroup extends EndedKind {
  readonly requestedModel: string;
  readonly features: number;
  readonly tokenClass: number;
  readonly items: number;
  readonly bytes: number;
  readonly largestBytes: number;
  readonly inputTokens: number;
  /** Of the items that cap their output. */
  readonly outputTokens: number;
  /** Items without a cap, however many replies each asks for. */
  readonly itemsWithoutCap: number;
}

/** The terms a job was accepted at: what its reservation was made with, whatever changed since. */
export interface ReservedTerms {
  /** Of its manifest. */
  readonly groups: readonly ItemGroup[];
  readonly calibration: Calibration | null;
  readonly margin: string;
  /** By the model that items ask for; the empty name is the job's own. */
  readonly targets: ReadonlyMap<string, Pick<ChosenTarget, 'target' | 'price' | 'replies'>>;
}

export interface WaveFacts {
  readonly policy: RetryPolicy | null;
  readonly ended: readonly EndedGroup[];
  readonly terms: ReservedTerms;
  /** Of the hold. */
  readonly left: Amount;
  readonly isCancelRequested: boolean;
  /** The job's own; null without. */
  readonly deadline: Date | null;
  /** When the wave would be sent. */
  readonly startAt: Date;
}

export type WaveDecision =
  /** Nothing is tried again, or nothing may be any more. */
  | { readonly kind: 'none' }
  /** What is left of the hold does not cover it, so none of it is sent. */
  | { readonly kind: 'skip'; readonly items: number; readonly needed: Amount }
  | { readonly kind: 'wave'; readonly items: number; readonly needed: Amount; readonly kinds: readonly EndedKind[] };

/**
 * Whether a job, all of whose items have ended, tries some of them again. A wave is all or nothing: it costs by
 * estimate, with the margin of the reservation, no more than what is left of the hold, and it begins before the job's
 * deadline and not after a cancel.
 */
export function decideWave(facts: WaveFacts): WaveDecision {
  const { policy, isCancelRequested, deadline, startAt } = facts;
  if (policy === null || isCancelRequested) return { kind: 'none' };
  const taken = facts.ended.filter((group) => takesAgain(policy, group));
  const items = taken.reduce((sum, group) => sum + group.items, 0);
  if (items === 0) return { kind: 'none' };
  if (deadline !== null && startAt >= deadline) return { kind: 'none' };
  const needed = quoteWave(taken, facts.terms);
  if (needed > facts.left) return { kind: 'skip', items, needed };
  return { kind: 'wave', items, needed, kinds: kindsOf(taken) };
}

function kindsOf(taken: readonly EndedKind[]): EndedKind[] {
  const byKind = new Map(
    taken.map(({ state, code, attempt }) => [`${state} ${code} ${attempt}`, { state, code, attempt }]),
  );
  return [...byKind.values()];
}

/** What has to be left of the hold for items to be sent once more: as their job was quoted, margin included. */
export function quoteWave(
  taken: readonly EndedGroup[],
  { groups, calibration, margin, targets }: ReservedTerms,
): Amount {
  const alike = Map.groupBy(taken, ({ requestedModel, features, tokenClass }) =>
    JSON.stringify([requestedModel, features, tokenClass]),
  );
  const again = [...alike.values()].flatMap((together) => {
    const merged = mergeGroups(together);
    return merged === null ? [] : [{ ...merged, uncappedItems: repliesWithoutCap(merged, groups) }];
  });
  return quoteJob({ mode: 'batch', groups: again, calibration, margin, priceBookVersion: '' }, targets).reserved;
}

function mergeGroups(together: readonly EndedGroup[]): EndedGroup | null {
  const [first] = together;
  if (first === undefined) return null;
  const total = (of: (group: EndedGroup) => number): number => together.reduce((sum, group) => sum + of(group), 0);
  return {
    ...first,
    items: total(({ items }) => items),
    bytes: total(({ bytes }) => bytes),
    largestBytes: Math.max(...together.map(({ largestBytes }) => largestBytes)),
    inputTokens: total(({ inputTokens }) => inputTokens),
    outputTokens: total(({ outputTokens }) => outputTokens),
    itemsWithoutCap: total(({ itemsWithoutCap }) => itemsWithoutCap),
  };
}

/**
 * How many replies items without a cap ask for is kept only as a sum over their kind: some of them have their share of
 * it, rounded up.
 */
function repliesWithoutCap(
  { requestedModel, features, tokenClass, items, itemsWithoutCap }: EndedGroup,
  groups: readonly ItemGroup[],
): number {
  if (itemsWithoutCap === 0) return 0;
  const whole = groups.find(
    (group) =>
      group.requestedModel === requestedModel && group.features === features && group.tokenClass === tokenClass,
  );
  if (whole === undefined) return itemsWithoutCap;
  // Endpoints that generate nothing have neither caps nor replies.
  if (whole.uncappedItems === 0) return 0;
  return Math.max(itemsWithoutCap, Math.ceil((whole.uncappedItems * items) / whole.items));
}
