import { estimateJsonTokens } from './json-tokens.ts';
import { estimateTextTokens } from './text-tokens.ts';

/** How the tokens of what a caller wrote are counted; attachments, and what providers add, are counted apart. */
export interface TokenCounter {
  countText(text: string): number;
  /** Of tools, schemas and calls, which providers render as text. */
  countJson(value: unknown): number;
}

/** The count that every item has from its append on: no tables, one pass. */
export const CLASS_COUNTER: TokenCounter = {
  countText: estimateTextTokens,
  countJson: (value) => estimateJsonTokens(value),
};
