import { ANTHROPIC_PRICES } from './price-book-anthropic.ts';
import { GEMINI_PRICES } from './price-book-gemini.ts';
import { OPENAI_EMBEDDING_AND_MODERATION_PRICES } from './price-book-openai-embeddings-moderations.ts';
import { OPENAI_GPT_4_AND_5_PRICES } from './price-book-openai-gpt-4-5.ts';
import { OPENAI_GPT_6_PRICES } from './price-book-openai-gpt-6.ts';
import type { PriceRow } from './price-row.ts';
import type { Provider } from './provider.ts';

/** Recorded with every job. Changes with any figure in the book. */
export const PRICE_BOOK_VERSION = '2026-11-30.1';

export const PRICE_BOOK: readonly PriceRow[] = [
  ...OPENAI_GPT_6_PRICES,
  ...OPENAI_GPT_4_AND_5_PRICES,
  ...OPENAI_EMBEDDING_AND_MODERATION_PRICES,
  ...ANTHROPIC_PRICES,
  ...GEMINI_PRICES,
];

/** `gpt-4o-mini-2024-07-18`, `claude-haiku-4-5-20251001`: a snapshot costs what its model does. */
const SNAPSHOT_SUFFIX = /-20[0-9]{2}(?:-[0-9]{2}-[0-9]{2}|[0-9]{4})$/;

const ROWS_BY_MODEL = Map.groupBy(
  PRICE_BOOK.flatMap((row) => [row.model, ...(row.alsoKnownAs ?? [])].map((id) => ({ id, row }))),
  ({ id, row }) => key(row.provider, id),
);

/**
 * The row in force at a time, for a model id or a dated snapshot of one; null when the book does not know the model or
 * the time is before its first row. A snapshot with a row of its own is priced by that row.
 */
export function findPrice(provider: Provider, model: string, at: Date): PriceRow | null {
  const known = ROWS_BY_MODEL.get(key(provider, model)) ?? ROWS_BY_MODEL.get(key(provider, baseModel(model))) ?? [];
  const day = at.toISOString().slice(0, 10);
  let inForce: PriceRow | null = null;
  for (const { row } of known) {
    if (row.from <= day && (inForce === null || row.from >= inForce.from)) inForce = row;
  }
  return inForce;
}

/** The provider of a plain model id (or a snapshot of one), null when the book does not know it. */
export function findProviderOfModel(model: string, providers: readonly Provider[]): Provider | null {
  const knows = (provider: Provider) =>
    ROWS_BY_MODEL.has(key(provider, model)) || ROWS_BY_MODEL.has(key(provider, baseModel(model)));
  return providers.find(knows) ?? null;
}

function baseModel(model: string): string {
  return model.replace(SNAPSHOT_SUFFIX, '');
}

function key(provider: Provider, model: string): string {
  return `${provider}/${model}`;
}
