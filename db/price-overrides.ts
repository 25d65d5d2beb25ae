import type pg from 'pg';
import { z } from 'zod';
import type { PriceRow } from '../domain/price-row.ts';
import { newId } from './ids.ts';
import {
  listOverrideRows,
  listRowsInForce,
  type OverrideFilter,
  type OverridePage,
  type OverrideRecord,
  type OverrideRow,
  recordOf,
  withdrawOverride,
} from './override-rows.ts';

type Queryable = Pick<pg.ClientBase, 'query'>;

/** A price that an admin set. */
export interface PriceOverride extends OverrideRecord {
  readonly price: PriceRow;
}

export interface NewPriceOverride {
  /** Null for every tenant. */
  readonly tenantId: string | null;
  readonly price: PriceRow;
  readonly reason: string;
  readonly createdBy: string;
}

const StoredRate = z.string().regex(/^[0-9]+(\.[0-9]{1,6})?$/);
const StoredRates = z.strictObject({
  input: StoredRate,
  cachedInput: StoredRate,
  cacheWrite: StoredRate,
  longCacheWrite: StoredRate.exactOptional(),
  output: StoredRate,
});
/** A price row without what has columns of its own. Checked on every read: money is made of it. */
export const StoredPrice = z.strictObject({
  currency: z.string().regex(/^[A-Z]{3}$/),
  kind: z.enum(['chat', 'embedding', 'moderation']),
  standard: StoredRates,
  batch: StoredRates.nullable(),
  longContext: z
    .strictObject({ aboveInputTokens: z.int().min(1), standard: StoredRates, batch: StoredRates.nullable() })
    .exactOptional(),
  maxOutputTokens: z.int().min(0),
});

interface PriceOverrideRow extends OverrideRow {
  readonly from_day: string;
  readonly row: unknown;
}

const SELECT_PRICE = `
  SELECT override_id, tenant_id, provider, model, to_char(from_day, 'YYYY-MM-DD') AS from_day, "row", reason, created_by,
    created_at, withdrawn_by, withdrawn_at
  FROM price_overrides`;

export async function insertPriceOverride(db: Queryable, override: NewPriceOverride): Promise<string> {
  const overrideId = newId('priceOverride');
  const { provider, model, from, currency, kind, standard, batch, longContext, maxOutputTokens } = override.price;
  const stored = {
    currency,
    kind,
    standard,
    batch,
    ...(longContext !== undefined && { longContext }),
    maxOutputTokens,
  };
  await db.query(
    `INSERT INTO price_overrides (override_id, tenant_id, provider, model, from_day, "row", reason, created_by)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      overrideId,
      override.tenantId,
      provider,
      model,
      from,
      JSON.stringify(StoredPrice.parse(stored)),
      override.reason,
      override.createdBy,
    ],
  );
  return overrideId;
}

export async function findPriceOverride(db: Queryable, overrideId: string): Promise<PriceOverride | null> {
  const { rows } = await db.query<PriceOverrideRow>(`${SELECT_PRICE} WHERE override_id = $1`, [overrideId]);
  return rows[0] === undefined ? null : toPriceOverride(rows[0]);
}

export async function listPriceOverrides(
  db: Queryable,
  filter: OverrideFilter,
  page: OverridePage,
): Promise<PriceOverride[]> {
  return (await listOverrideRows<PriceOverrideRow>(db, SELECT_PRICE, filter, page)).map(toPriceOverride);
}

/** As `listRowsInForce`. */
export async function listPricesInForce(db: Queryable, tenantId: string): Promise<PriceOverride[]> {
  return (await listRowsInForce<PriceOverrideRow>(db, SELECT_PRICE, tenantId)).map(toPriceOverride);
}

/** Null for an unknown id. */
export async function withdrawPriceOverride(
  db: Queryable,
  overrideId: string,
  by: string,
): Promise<PriceOverride | null> {
  await withdrawOverride(db, 'price_overrides', overrideId, by);
  return findPriceOverride(db, overrideId);
}

/** Throws for a row that is no price: better no admission than a wrong charge. */
function toPriceOverride(row: PriceOverrideRow): PriceOverride {
  const stored = StoredPrice.safeParse(row.row);
  if (!stored.success) throw new Error(`the price of ${row.override_id} cannot be read`, { cause: stored.error });
  const { provider, model, from_day: from } = row;
  return { ...recordOf(row), price: { provider, model, from, ...stored.data, batchBasis: 'override' } };
}
