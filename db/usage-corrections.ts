import type pg from 'pg';
import { type ItemState, itemStateFromCode } from '../domain/item-state.ts';
import { type Amount, parseNumeric } from '../domain/money.ts';
import type { Provider } from '../domain/provider.ts';
import type { UsageKind } from '../domain/usage-kind.ts';
import { fromUuid } from './ids.ts';
import type { JobKey } from './job-rows.ts';
import { namesOf } from './ledger-names.ts';
import { type UsageWindow, windowCondition, windowValues } from './usage-window.ts';

/** Of `ledger_entries` e: what changes the tenant's charge after an item settled. As the indexes have it. */
export const IS_CORRECTION = `e.event IN ${namesOf('item.refunded', 'adjusted')} AND e.account = 'tenant'`;

export const CORRECTION_KIND = `CASE WHEN e.event IN ${namesOf('item.refunded')} THEN 'refund' ELSE 'adjustment' END`;

/** What is charged more: below zero where it was given back. */
export const CORRECTION_AMOUNT = `CASE WHEN e.event IN ${namesOf('item.refunded')} THEN -e.amount ELSE e.amount END`;

/**
 * The same in the prices of the job's customer (of `batch_jobs` j and the item's outcome o): of an item its share; what is
 * settled between the tenant, the gateway and the provider does not concern a customer with prices of its own.
 */
export const CORRECTION_CUSTOMER_AMOUNT = `CASE
    WHEN j.customer_id IS NULL THEN NULL
    WHEN o.item_no IS NOT NULL THEN -customer_share(coalesce(o.customer_amount, o.amount), e.amount, o.amount)
    WHEN j.customer_pricing IS NULL THEN e.amount
    ELSE 0
  END`;

/** The customer's own key is not shown what does not concern it. `isCustomer` is a boolean parameter. */
export function concerns(isCustomer: string): string {
  return `NOT (${isCustomer}::boolean AND e.item_no = 0 AND j.customer_pricing IS NOT NULL)`;
}

/** Whether it is dated in a later month (of UTC) than what it corrects: of an item its settlement, of a job its end. */
export const CORRECTION_IS_LATE = `date_trunc('month', e.created_at AT TIME ZONE 'UTC')
    > date_trunc('month', coalesce(o.settled_at, j.completed_at, e.created_at) AT TIME ZONE 'UTC')`;

/** One refund or adjustment. */
export interface UsageCorrection {
  readonly kind: Exclude<UsageKind, 'charge'>;
  readonly itemNo: number;
  readonly event: string;
  readonly ordinal: number;
  readonly itemId: string | null;
  readonly customId: string | null;
  readonly status: ItemState | null;
  readonly provider: Provider | null;
  readonly model: string;
  readonly amount: Amount;
  readonly customerAmount: Amount | null;
  readonly at: Date;
  /** Dated in a later month than what it corrects. */
  readonly isLate: boolean;
}

/** The key of an entry within its job, which is also the order of a page. */
export interface CorrectionPosition {
  readonly itemNo: number;
  readonly event: string;
  readonly ordinal: number;
}

interface Row {
  readonly kind: UsageCorrection['kind'];
  readonly item_no: number;
  readonly event: string;
  readonly ordinal: number;
  readonly item_id: string | null;
  readonly custom_id: string | null;
  readonly state: number | null;
  readonly provider: Provider | null;
  readonly model: string;
  readonly amount: string;
  readonly customer_amount: string | null;
  readonly created_at: Date;
  readonly is_late: boolean;
}

/** A job's refunds and adjustments after a position, those about the job first. */
export async function listCorrections(
  db: Pick<pg.ClientBase, 'query'>,
  job: JobKey,
  { window, isCustomer }: { readonly window: UsageWindow; readonly isCustomer: boolean },
  page: { readonly after: CorrectionPosition | null; readonly limit: number },
): Promise<UsageCorrection[]> {
  const after = page.after ?? { itemNo: -1, event: '', ordinal: 0 };
  const { rows } = await db.query<Row>(
    `SELECT ${CORRECTION_KIND} AS kind, e.item_no, e.event, e.ordinal, i.item_id, i.custom_id, o.state, s.provider,
       coalesce(o.model, '') AS model, ${CORRECTION_AMOUNT} AS amount, ${CORRECTION_CUSTOMER_AMOUNT} AS customer_amount, e.created_at,
       ${CORRECTION_IS_LATE} AS is_late
     FROM ledger_entries e
     JOIN batch_jobs j ON j.job_id = $2
     LEFT JOIN batch_items i ON i.bucket = $1 AND i.job_id = $2 AND i.item_no = e.item_no AND e.item_no > 0
     LEFT JOIN item_outcomes o ON o.bucket = $1 AND o.job_id = $2 AND o.item_no = e.item_no AND e.item_no > 0
     LEFT JOIN batch_shards s ON s.job_id = $2 AND s.shard = o.shard
     WHERE e.bucket = $1 AND e.subject_id = $2 AND ${IS_CORRECTION} AND (e.item_no, e.event, e.ordinal) > ($3, $4, $5)
       AND ${concerns('$11')} AND ${windowCondition('e.created_at', 'e.written_by', 7)}
     ORDER BY e.item_no, e.event, e.ordinal LIMIT $6`,
    [job.bucket, job.uuid, after.itemNo, after.event, after.ordinal, page.limit, ...windowValues(window), isCustomer],
  );
  return rows.map((row) => ({
    kind: row.kind,
    itemNo: row.item_no,
    event: row.event,
    ordinal: row.ordinal,
    itemId: row.item_id === null ? null : fromUuid('item', row.item_id),
    customId: row.custom_id,
    status: row.state === null ? null : itemStateFromCode(row.state),
    provider: row.provider,
    model: row.model,
    amount: parseNumeric(row.amount),
    customerAmount: row.customer_amount === null ? null : parseNumeric(row.customer_amount),
    at: row.created_at,
    isLate: row.is_late,
  }));
}
