import { type Amount, parseNumeric } from '../domain/money.ts';
import { nameOf } from './ledger-names.ts';

/** A job's money in the prices of its customer, under the same law as the tenant's. */
export interface CustomerMoney {
  readonly estimated: Amount;
  readonly reserved: Amount;
  /** What the hold would still have, while the job runs. */
  readonly held: Amount;
  /** Net of the customer's part of refunds. */
  readonly settled: Amount;
}

/** Of `batch_jobs` j, with what was refunded as r: nothing is looked up of jobs without a pricing. */
export const CUSTOMER_REFUNDS = `LEFT JOIN LATERAL (
    SELECT sum(customer_share(coalesce(o.customer_amount, o.amount), e.amount, o.amount)) AS customer_refunded
    FROM ledger_entries e
    JOIN item_outcomes o ON o.bucket = j.bucket AND o.job_id = j.job_id AND o.item_no = e.item_no
    WHERE j.customer_pricing IS NOT NULL AND e.bucket = j.bucket AND e.subject_id = j.job_id AND e.event = ${nameOf('item.refunded')}
  ) r ON true`;

export interface CustomerMoneyRow {
  readonly customer_pricing: unknown;
  readonly customer_estimated_amount: string | null;
  readonly customer_reserved_amount: string | null;
  readonly customer_settled_amount: string | null;
  readonly customer_refunded: string | null;
  readonly completed_at: Date | null;
}

/** Null where the customer is shown what the tenant pays. */
export function toCustomerMoney(row: CustomerMoneyRow): CustomerMoney | null {
  if (row.customer_pricing === null) return null;
  const amount = (text: string | null) => parseNumeric(text ?? '0');
  const reserved = amount(row.customer_reserved_amount);
  const settled = amount(row.customer_settled_amount) - amount(row.customer_refunded);
  const left = row.completed_at === null ? reserved - settled : 0n;
  return { estimated: amount(row.customer_estimated_amount), reserved, held: left > 0n ? left : 0n, settled };
}
