import { expectOutputTokens } from './estimate.ts';
import { learnOutput, type OutputHistory } from './output-history.ts';
import type { PriceRow } from './price-row.ts';
import type { Dialect } from './provider.ts';

/** What is held for each choice of a reply whose request sets no cap. */
export interface UncappedReply {
  readonly tokens: number;
  readonly method: 'learned' | 'default';
  /** Earlier replies it was learned from. */
  readonly knownReplies: number;
}

/** Of requests that ask the model to reason, and of all others. */
export interface UncappedReplies {
  readonly plain: UncappedReply;
  readonly reasoning: UncappedReply;
}

/**
 * What to expect of replies without a cap: what nine of ten earlier ones stayed within, else a default; never more than
 * the model can write. Anthropic wants a cap on every request and is given what is held, so there it is never below the
 * default: no reply is cut short because others were short.
 */
export function expectUncappedReplies(
  price: PriceRow,
  dialect: Dialect,
  histories: readonly OutputHistory[],
): UncappedReplies {
  const expect = (reasons: boolean): UncappedReply => {
    const cap = { maxOutputTokens: null, choices: 1, reasons };
    const learned = learnOutput(histories, { ...price, reasons });
    const assumed = expectOutputTokens(cap, price);
    if (learned === null) return { tokens: assumed, method: 'default', knownReplies: 0 };
    const tokens = expectOutputTokens(cap, price, learned.tokens);
    if (dialect === 'anthropic' && tokens < assumed) {
      return { tokens: assumed, method: 'default', knownReplies: learned.knownReplies };
    }
    return { tokens, method: 'learned', knownReplies: learned.knownReplies };
  };
  return { plain: expect(false), reasoning: expect(true) };
}
