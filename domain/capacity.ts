import { resendDelay } from './resend-delay.ts';

/** What a provider's queue takes at once. Null where it is not known. */
export interface QueueLimits {
  readonly inputTokens: number | null;
  readonly items: number | null;
  readonly batches: number | null;
}

/** What open attempts, those on their way included, hold of a queue. */
export interface QueueUse {
  readonly batches: number;
  readonly items: number;
  readonly inputTokens: number;
  /** Batches not yet seen past the provider's validation: it may still refuse them. */
  readonly unproven: number;
}

/** What is remembered of the queue of one credential, provider and model. */
export interface QueueAccount {
  readonly fullSince: Date | null;
  readonly lastRefusedAt: Date | null;
  /** While the queue is full nobody tries before. */
  readonly probeAt: Date | null;
  /** When a batch last left the queue. */
  readonly roomAt: Date | null;
  /** In the provider's own words. */
  readonly limits: Pick<QueueLimits, 'inputTokens' | 'items'>;
}

export interface QueueSituation {
  readonly account: QueueAccount;
  /** Published limits. They differ between accounts, so they only make a shard more careful. */
  readonly hints: QueueLimits;
  /** Of all but the shard that asks. */
  readonly others: QueueUse;
  readonly shard: {
    readonly items: number;
    readonly inputTokens: number;
    /** For capacity, 0 where it has only just come. */
    readonly waitedMs: number;
    /** No other shard has waited for the same queue for longer. */
    readonly isFirst: boolean;
    /** When its own timer ends, null where it has none. */
    readonly triesAt: Date | null;
  };
  readonly at: Date;
}

/** A named limit may have been raised since: after this long it has to be heard again. */
const TRUST_MS = 24 * 3_600_000;

/**
 * Whether the shard may be sent now. The first of those that wait decides for all behind it, so that a large shard is
 * not passed by small ones for ever. In a full queue one batch at a time is tried, at growing delays or when another has
 * left; beyond a limit the provider has named nothing is tried, unless the queue holds nothing of ours.
 */
export function mayTakeRoom({ account, hints, others, shard, at }: QueueSituation): boolean {
  if (!shard.isFirst) return false;
  const isEmpty = others.batches === 0;
  const named = namedLimits(account, at);
  if (!isEmpty && !fits(shard, others, named)) return false;
  if (account.fullSince !== null) {
    if (account.probeAt !== null && at < account.probeAt) return false;
    return others.unproven === 0 || named.inputTokens !== null || named.items !== null;
  }
  if (isEmpty || fits(shard, others, hints)) return true;
  return others.unproven === 0 && shard.triesAt !== null && at >= shard.triesAt;
}

/** Milliseconds until a shard that may not be sent asks again, if nothing wakes it before. */
export function nextTurnDelay(
  { account, shard, at }: QueueSituation,
  pace: { readonly capacityRetryMs: number; readonly random01: number },
): number {
  const times = [shard.triesAt, shard.isFirst && account.fullSince !== null ? account.probeAt : null];
  const ahead = times.flatMap((time) => (time !== null && time > at ? [time.getTime() - at.getTime()] : []));
  if (ahead.length > 0) return Math.min(...ahead);
  const { capacityRetryMs: firstDelayMs, random01 } = pace;
  return resendDelay({ waitedMs: shard.waitedMs, firstDelayMs, retryAfterMs: null, random01 });
}

/** Whether nothing else of the account was in the queue from the time the refused batch was sent until now. */
export function wasAlone({ roomAt }: QueueAccount, others: QueueUse, sentAt: Date): boolean {
  return others.batches === 0 && (roomAt === null || roomAt < sentAt);
}

/** As many refusals in a row, with nothing else of ours in the queue, say that the shard itself is too large. */
const REFUSALS_BEFORE_SPLIT = 3;
/** An estimate may be short by as much: a shard below this part of the limit is kept out by somebody else's batches. */
const PART_THAT_MAY_EXCEED = 0.5;

/**
 * Whether a refused shard is to be cut in two. `refusedAlone` counts its refusals in a row with nothing else of the
 * account in the queue, the last included; 0 when there was something else.
 */
export function isTooLargeForQueue(refused: {
  readonly refusedAlone: number;
  readonly inputTokens: number;
  readonly limitTokens: number | null;
}): boolean {
  const { refusedAlone, inputTokens, limitTokens } = refused;
  if (refusedAlone === 0) return false;
  if (limitTokens === null) return refusedAlone >= REFUSALS_BEFORE_SPLIT;
  if (inputTokens > limitTokens) return true;
  return inputTokens > limitTokens * PART_THAT_MAY_EXCEED && refusedAlone >= REFUSALS_BEFORE_SPLIT;
}

/** What the provider has said lately that the queue takes. */
export function namedLimits(
  { limits, lastRefusedAt }: Pick<QueueAccount, 'limits' | 'lastRefusedAt'>,
  at: Date,
): QueueLimits {
  const isTrusted = lastRefusedAt !== null && at.getTime() - lastRefusedAt.getTime() < TRUST_MS;
  return isTrusted ? { ...limits, batches: null } : { inputTokens: null, items: null, batches: null };
}

function fits(
  shard: { readonly items: number; readonly inputTokens: number },
  others: QueueUse,
  limits: QueueLimits,
): boolean {
  return (
    isWithin(others.inputTokens + shard.inputTokens, limits.inputTokens) &&
    isWithin(others.items + shard.items, limits.items) &&
    isWithin(others.batches + 1, limits.batches)
  );
}

function isWithin(amount: number, limit: number | null): boolean {
  return limit === null || amount <= limit;
}
