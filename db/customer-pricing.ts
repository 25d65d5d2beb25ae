import type pg from 'pg';
import { z } from 'zod';
import { type CustomerPricing, customerQuote, type PricedModel, pricingForModels } from '../domain/customer-pricing.ts';
import { formatNumeric } from '../domain/money.ts';
import type { PriceRow } from '../domain/price-row.ts';
import type { Quote } from '../domain/quote.ts';
import type { JobKey, JobRow } from './job-rows.ts';
import { StoredPrice } from './price-overrides.ts';

type Queryable = Pick<pg.ClientBase, 'query'>;

/** A customer of a tenant, by name. */
export interface CustomerKey {
  readonly tenantId: string;
  readonly customerId: string;
}

/** As an admin set it last. */
export interface CustomerPricingRecord {
  readonly pricing: CustomerPricing | null;
  readonly setBy: string | null;
  readonly setAt: Date | null;
}

const StoredRow = StoredPrice.extend({ provider: z.string(), model: z.string(), from: z.iso.date() });
/** Checked on every read: money is made of it. */
const StoredPricing = z.object({
  markup_percent: z.string().regex(/^[0-9]{1,5}(\.[0-9]{1,4})?$/),
  prices: z.array(StoredRow),
});

/** Null for a customer nobody has heard of. */
export async function findCustomerPricing(db: Queryable, customer: CustomerKey): Promise<CustomerPricingRecord | null> {
  const { rows } = await db.query<{
    markup_percent: string | null;
    price_list: unknown;
    pricing_set_by: string | null;
    pricing_set_at: Date | null;
  }>(
    `SELECT trim_scale(markup_percent)::text AS markup_percent, price_list, pricing_set_by, pricing_set_at FROM customers
     WHERE tenant_id = $1 AND customer_id = $2`,
    [customer.tenantId, customer.customerId],
  );
  const row = rows[0];
  if (row === undefined) return null;
  const pricing =
    row.markup_percent === null ? null : readPricing({ markup_percent: row.markup_percent, prices: row.price_list });
  return { pricing, setBy: row.pricing_set_by, setAt: row.pricing_set_at };
}

/** Replaces the whole; null is what the tenant pays. A customer that was never named before is made. */
export async function setCustomerPricing(
  db: Queryable,
  customer: CustomerKey,
  pricing: CustomerPricing | null,
  by: string,
): Promise<void> {
  await db.query(
    `INSERT INTO customers (tenant_id, customer_id, name, markup_percent, price_list, pricing_set_by, pricing_set_at)
     VALUES ($1, $2, $2, $3, $4, $5, now())
     ON CONFLICT (tenant_id, customer_id) DO UPDATE SET markup_percent = excluded.markup_percent,
       price_list = excluded.price_list, pricing_set_by = excluded.pricing_set_by, pricing_set_at = excluded.pricing_set_at`,
    [
      customer.tenantId,
      customer.customerId,
      pricing?.markupPercent ?? null,
      JSON.stringify((pricing?.prices ?? []).map(toStoredRow)),
      by,
    ],
  );
}

/** What the customer of a draft would be sold at now; null where it has no customer or that one no pricing. */
export async function findPricingOfCustomer(
  db: Queryable,
  owner: { readonly tenantId: string; readonly customerId: string | null },
): Promise<CustomerPricing | null> {
  const { tenantId, customerId } = owner;
  return customerId === null ? null : ((await findCustomerPricing(db, { tenantId, customerId }))?.pricing ?? null);
}

/** The pricing the job was submitted at. */
export async function findJobPricing(db: Queryable, job: Pick<JobKey, 'uuid'>): Promise<CustomerPricing | null> {
  const { rows } = await db.query<{ customer_pricing: unknown }>(
    'SELECT customer_pricing FROM batch_jobs WHERE job_id = $1',
    [job.uuid],
  );
  const stored = rows[0]?.customer_pricing ?? null;
  return stored === null ? null : readPricing(stored);
}

/** Fixes on a job what its customer is sold at, with the estimate and the hold in those prices. In the transaction that admits. */
export async function keepCustomerPricing(
  client: Queryable,
  job: Pick<JobRow, 'key' | 'tenantId' | 'customerId' | 'priceMode'>,
  verdict: { readonly quote: Quote; readonly targets: readonly { readonly target: PricedModel }[] },
  at: Date,
): Promise<void> {
  const { quote, targets } = verdict;
  const current = await findPricingOfCustomer(client, job);
  // Items are priced by their target's name, lines of the quote by that of the price row, which may be its family's.
  const models = [...targets.map(({ target }) => target), ...quote.lines];
  const pricing = current === null ? null : pricingForModels(current, models, at);
  const shown =
    pricing === null ? null : customerQuote(pricing, quote.lines, { margin: quote.margin, mode: job.priceMode });
  await client.query(
    `UPDATE batch_jobs SET customer_pricing = $2, customer_estimated_amount = $3, customer_reserved_amount = $4
     WHERE job_id = $1`,
    [
      job.key.uuid,
      pricing === null
        ? null
        : JSON.stringify({ markup_percent: pricing.markupPercent, prices: pricing.prices.map(toStoredRow) }),
      shown === null ? null : formatNumeric(shown.amount),
      shown === null ? null : formatNumeric(shown.reserved),
    ],
  );
}

function toStoredRow(row: PriceRow): z.input<typeof StoredRow> {
  const { provider, model, from, currency, kind, standard, batch, longContext, maxOutputTokens } = row;
  const stored = { provider, model, from, currency, kind, standard, batch, maxOutputTokens };
  return StoredRow.parse(longContext === undefined ? stored : { ...stored, longContext });
}

/** Throws for what is no pricing: better no answer than a wrong amount. */
function readPricing(stored: unknown): CustomerPricing {
  const { markup_percent: markupPercent, prices } = StoredPricing.parse(stored);
  return { markupPercent, prices: prices.map((row) => ({ ...row, batchBasis: 'override' })) };
}
