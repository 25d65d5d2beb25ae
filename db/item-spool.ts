import type { ItemGroup } from '../domain/admission-facts.ts';

/** Checked items waiting to be stored, as rows of db/item-rows.ts. Both row streams may be read any number of times. */
export interface SpooledItems {
  readonly itemCount: number;
  /** What a row's position means to the caller: its line, or nothing beyond its index. */
  readonly positions: 'line' | 'index';
  /** Whether any item has an idempotency key other than its custom id. */
  readonly hasOwnKeys: boolean;
  groups(): readonly ItemGroup[];
  /** Item rows in order, in batches of whole rows that the reader may change. */
  itemRows(): AsyncIterable<Buffer>;
  /** Request rows in the same order. */
  requestRows(): AsyncIterable<Buffer>;
}
