import type { Amount } from './money.ts';

/** What an invoice bills for one provider batch. */
export interface BilledAmount {
  readonly billed: Amount;
  /** ISO 4217 */
  readonly currency: string;
}

/** What the ledger knows of that batch. */
export interface ChargedBatch {
  readonly currency: string;
  readonly jobHasEnded: boolean;
  /** What its items were charged, and what earlier invoices corrected. */
  readonly charged: Amount;
  /** What the job as a whole is charged to its tenant. */
  readonly jobCharge: Amount;
}

export const INVOICE_VERDICTS = ['equal', 'differs', 'job_open', 'currency_differs', 'below_zero'] as const;
/**
 * `differs` alone can be posted. `job_open`: charges may still come. `currency_differs`: nothing is converted here.
 * `below_zero`: the tenant would be charged less than nothing.
 */
export type InvoiceVerdict = (typeof INVOICE_VERDICTS)[number];

/** Compares a billed batch with the ledger; the difference is what an adjustment would add, below zero where too much was charged. */
export function judgeBilled(
  { billed, currency }: BilledAmount,
  batch: ChargedBatch,
  { chargesTenant }: { readonly chargesTenant: boolean },
): { readonly verdict: InvoiceVerdict; readonly difference: Amount } {
  const difference = billed - batch.charged;
  return { verdict: verdictOf(), difference };

  function verdictOf(): InvoiceVerdict {
    if (currency !== batch.currency) return 'currency_differs';
    if (!batch.jobHasEnded) return 'job_open';
    if (difference === 0n) return 'equal';
    return chargesTenant && batch.jobCharge + difference < 0n ? 'below_zero' : 'differs';
  }
}
