import type { Provider } from './provider.ts';

/** Classes of a reply's length: floor(log2(output tokens)), 0 to 31. */
export const OUTPUT_CLASSES = 32;

/** How long a model's replies without a cap were for one tenant and endpoint: a count for each class. */
export interface OutputHistory {
  readonly provider: Provider;
  readonly model: string;
  /** Replies to requests that ask the model to reason are another kind. */
  readonly reasons: boolean;
  readonly classes: readonly number[];
}

/** Fewer replies say too little. */
const MIN_KNOWN_REPLIES = 50;
/** So many of a hundred replies are no longer than what is expected. */
const PERCENT_COVERED = 90;

export interface LearnedOutput {
  readonly tokens: number;
  readonly knownReplies: number;
}

/**
 * The length that nine of ten replies stay within, read off the classes as if each were filled evenly; null where too
 * few are known.
 */
export function learnOutput(
  histories: readonly OutputHistory[],
  of: { readonly provider: Provider; readonly model: string; readonly reasons: boolean },
): LearnedOutput | null {
  const history = histories.find(
    ({ provider, model, reasons }) => provider === of.provider && model === of.model && reasons === of.reasons,
  );
  const knownReplies = history?.classes.reduce((sum, count) => sum + count, 0) ?? 0;
  if (history === undefined || knownReplies < MIN_KNOWN_REPLIES) return null;
  let wanted = Math.ceil((knownReplies * PERCENT_COVERED) / 100);
  for (const [outputClass, count] of history.classes.entries()) {
    if (wanted > count) {
      wanted -= count;
      continue;
    }
    const shortest = 2 ** outputClass;
    return { tokens: shortest + Math.ceil((shortest * wanted) / count) - 1, knownReplies };
  }
  return null;
}
