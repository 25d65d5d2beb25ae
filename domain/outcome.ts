import type { Failure } from './failure.ts';
import { type Usage, ZERO_USAGE } from './usage.ts';

/**
 * How an item ended. Usage is charged whatever the ending: a blocked or malformed answer may have been billed, an item
 * that never ran has ZERO_USAGE. `body` is the reply as JSON text, kept exactly as it came.
 */
export type Outcome =
  | { readonly status: 'completed'; readonly usage: Usage; readonly body: string; readonly model: string | null }
  | { readonly status: 'failed'; readonly usage: Usage; readonly failure: Failure; readonly body: string | null }
  | { readonly status: 'expired'; readonly usage: Usage; readonly failure: Failure }
  | { readonly status: 'cancelled'; readonly usage: Usage; readonly failure: Failure };

/** The outcome of an item that did not run: its status follows from the class of the failure. */
export function outcomeWithoutRun(failure: Failure): Outcome {
  if (failure.class === 'expired') return { status: 'expired', usage: ZERO_USAGE, failure };
  if (failure.class === 'cancelled') return { status: 'cancelled', usage: ZERO_USAGE, failure };
  return { status: 'failed', usage: ZERO_USAGE, failure, body: null };
}
