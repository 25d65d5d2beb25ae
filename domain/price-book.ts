import { ANTHROPIC_PRICES } from './price-book-anthropic.ts';
import { GEMINI_PRICES } from './price-book-gemini.ts';
import { OPENAI_EMBEDDING_AND_MODERATION_PRICES } from './price-book-openai-embeddings-moderations.ts';
import { OPENAI_GPT_4_AND_5_PRICES } from './price-book-openai-gpt-4-5.ts';
import { OPENAI_GPT_6_PRICES } from './price-book-openai-gpt-6.ts';
import type { PriceRow } from './price-row.ts';
import type { Provider } from './provider.ts';

/** Recorded with every job. Changes with any figure in the book. */
const PRICE_BOOK_VERSION = '2026-11-30.1';

/** The prices of the three built-in providers, as data with sources. */
export const PUBLISHED_PRICES: readonly PriceRow[] = [
  ...OPENAI_GPT_6_PRICES,
  ...OPENAI_GPT_4_AND_5_PRICES,
  ...OPENAI_EMBEDDING_AND_MODERATION_PRICES,
  ...ANTHROPIC_PRICES,
  ...GEMINI_PRICES,
];

/** What every known model costs, and when. */
export interface PriceBook {
  readonly rows: readonly PriceRow[];
  /** Of the published rows; a job keeps the rows it was priced by besides. */
  readonly version: string;
  /**
   * The row in force at a time, for a model id or a dated snapshot of one; null when the book does not know the model
   * or the time is before its first row. A snapshot with a row of its own is priced by that row.
   */
  find(provider: Provider, model: string, at: Date): PriceRow | null;
  /** The first provider that has a plain model id (or a snapshot of one), null when none has. */
  findProviderOf(model: string): Provider | null;
}

/** `gpt-4o-mini-2024-07-18`, `claude-haiku-4-5-20251001`: a snapshot costs what its model does. */
const SNAPSHOT_SUFFIX = /-20[0-9]{2}(?:-[0-9]{2}-[0-9]{2}|[0-9]{4})$/;

/** A row of `overrides` wins over the published rows of its model from its first day on. */
export function createPriceBook(published: readonly PriceRow[], overrides: readonly PriceRow[] = []): PriceBook {
  const rows = [...published, ...overrides];
  const byModel = Map.groupBy(
    rows.flatMap((row) => [row.model, ...(row.alsoKnownAs ?? [])].map((id) => ({ id, row }))),
    ({ id, row }) => key(row.provider, id),
  );
  const overriding = new Set(overrides);
  const knownAs = (provider: Provider, model: string) =>
    byModel.get(key(provider, model)) ?? byModel.get(key(provider, baseModel(model))) ?? [];
  const providers = [...new Set(rows.map((row) => row.provider))];
  return {
    rows,
    version: PRICE_BOOK_VERSION,
    find(provider, model, at) {
      const day = at.toISOString().slice(0, 10);
      const inForce = knownAs(provider, model)
        .map(({ row }) => row)
        .filter((row) => row.from <= day);
      const own = inForce.filter((row) => overriding.has(row));
      return latest(own.length > 0 ? own : inForce);
    },
    findProviderOf: (model) => providers.find((provider) => knownAs(provider, model).length > 0) ?? null,
  };
}

function latest(rows: readonly PriceRow[]): PriceRow | null {
  return rows.reduce<PriceRow | null>((found, row) => (found === null || row.from >= found.from ? row : found), null);
}

function baseModel(model: string): string {
  return model.replace(SNAPSHOT_SUFFIX, '');
}

function key(provider: Provider, model: string): string {
  return `${provider}/${model}`;
}
