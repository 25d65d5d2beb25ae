import {
  FAILURE_CLASSES,
  type FailureClass,
  type FailureCode,
  failureClassOf,
  retryRule,
  retryRuleOfCode,
} from './failure.ts';
import type { ItemEndState } from './item-state.ts';

/** Classes that a job may have tried again by itself. */
export const WAVE_CLASSES = FAILURE_CLASSES.filter((failureClass) => retryRule(failureClass) === 'automatic');

/** The most tries an item may have inside its job, the first counted. */
export const MAX_RETRY_ATTEMPTS = 10;
/** The longest that a job may be asked to wait between two tries: a day. */
export const MAX_BACKOFF_SECONDS = 86_400;
export const MAX_BACKOFF_FACTOR = 10;

/** How long a job waits before it tries failed items again. */
export interface RetryBackoff {
  /** Before the second try. */
  readonly initialSeconds: number;
  /** Each wait is so many times the one before. */
  readonly factor: number;
  readonly maxSeconds: number;
}

/** Which failed items a job tries again by itself, and how often. */
export interface RetryPolicy {
  /** Tries of one item, the first counted: 1 is none again. */
  readonly maxAttempts: number;
  readonly classes: readonly FailureClass[];
  readonly backoff: RetryBackoff;
}

export const DEFAULT_RETRY_BACKOFF: RetryBackoff = { initialSeconds: 60, factor: 2, maxSeconds: 3_600 };

/** Items that ended alike. */
export interface EndedKind {
  readonly state: ItemEndState;
  /** Empty for items that completed. */
  readonly code: FailureCode | '';
  /** Which try inside its job it was, from 1. */
  readonly attempt: number;
}

/**
 * Whether the policy tries items that ended so again: those that failed, by a class it names and a code that needs nobody
 * to act first, and that have tries left.
 */
export function takesAgain(policy: RetryPolicy, { state, code, attempt }: EndedKind): boolean {
  if (state !== 'failed' || code === '' || attempt >= policy.maxAttempts) return false;
  return retryRuleOfCode(code) === 'automatic' && policy.classes.includes(failureClassOf(code));
}

/** Jobs that failed together must not all come back in the same moment. */
const JITTER = 0.2;

/**
 * Milliseconds until the wave is sent: the second try, wave 2, is the first of them. Up to a fifth longer by `random01`
 * (from 0 up to 1, made outside).
 */
export function waveDelay(
  { initialSeconds, factor, maxSeconds }: RetryBackoff,
  wave: number,
  random01: number,
): number {
  const seconds = Math.min(maxSeconds, initialSeconds * factor ** Math.max(0, wave - 2));
  return Math.round(seconds * 1_000 * (1 + JITTER * random01));
}
