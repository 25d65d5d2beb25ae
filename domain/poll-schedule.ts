export interface PollPolicy {
  readonly minMs: number;
  readonly maxMs: number;
  /** How much longer each further look at an unchanged batch waits. */
  readonly factor: number;
  /** Largest deviation, as a part of the delay: 0.2 spreads it over ±20 %. */
  readonly jitter: number;
}

export interface Progress {
  readonly done: number;
  readonly total: number;
}

export interface PollSituation {
  /** Since the provider accepted the batch. */
  readonly ageMs: number;
  readonly pollsWithoutChange: number;
  /** Until the end expected from past batches; negative once that has passed, null when nothing was learned. */
  readonly expectedEndInMs: number | null;
  readonly progress: Progress | null;
  /** Items a second, null when it is not known. */
  readonly progressRate: number | null;
  readonly policy: PollPolicy;
  /** From 0 up to 1, made outside. */
  readonly random01: number;
}

/** A young batch is not left alone for longer than this part of its age. */
const PART_OF_AGE = 0.25;
/** Of the time still expected, or overdue: the waits shrink towards the end and grow again past it. */
const PART_OF_REMAINING = 0.5;

/**
 * Milliseconds until the provider is asked again: seconds at first, longer as nothing changes and the batch grows old,
 * shorter again near its expected end, jittered so that a fleet does not ask in step. Always within the policy's bounds.
 */
export function nextPollDelay(situation: PollSituation): number {
  const { ageMs, pollsWithoutChange, policy, random01 } = situation;
  const patience = policy.minMs * policy.factor ** pollsWithoutChange;
  const byAge = policy.minMs + Math.max(0, ageMs) * PART_OF_AGE;
  const remainingMs = estimateRemaining(situation);
  const byEnd = remainingMs === null ? policy.maxMs : Math.abs(remainingMs) * PART_OF_REMAINING;
  const delayMs = clamp(Math.min(patience, byAge, byEnd), policy);
  return clamp(Math.round(delayMs * (1 + policy.jitter * (2 * random01 - 1))), policy);
}

/** Milliseconds until all items are done at the given items a second; null when either is unknown or nothing moves. */
export function estimateCompletion(progress: Progress | null, itemsPerSecond: number | null): number | null {
  if (progress === null || itemsPerSecond === null || itemsPerSecond <= 0) return null;
  return (Math.max(0, progress.total - progress.done) / itemsPerSecond) * 1_000;
}

/** The progress the provider shows beats what was learned from other batches. */
function estimateRemaining({ progress, progressRate, expectedEndInMs }: PollSituation): number | null {
  return estimateCompletion(progress, progressRate) ?? expectedEndInMs;
}

function clamp(delayMs: number, { minMs, maxMs }: PollPolicy): number {
  return Math.min(maxMs, Math.max(minMs, delayMs));
}

export interface DurationSample {
  readonly durationMs: number;
  readonly itemCount: number;
}

const MIN_SAMPLES = 3;
/** Batches of up to this many times more or fewer items are taken for alike. */
const ALIKE_FACTOR = 4;

/**
 * How long a batch of `itemCount` items should take, from past ones of its provider and model: the median of those of
 * like size, else of all; null from fewer than three. The median, because one stuck batch says nothing of the next.
 */
export function learnedExpectedEnd(samples: readonly DurationSample[], itemCount: number): number | null {
  const alike = samples.filter(
    (sample) => sample.itemCount * ALIKE_FACTOR >= itemCount && sample.itemCount <= itemCount * ALIKE_FACTOR,
  );
  const telling = alike.length >= MIN_SAMPLES ? alike : samples;
  if (telling.length < MIN_SAMPLES) return null;
  const durations = telling.map(({ durationMs }) => durationMs).sort((left, right) => left - right);
  const middle = durations.slice(Math.floor((durations.length - 1) / 2), Math.floor(durations.length / 2) + 1);
  return middle.reduce((sum, durationMs) => sum + durationMs, 0) / middle.length;
}
