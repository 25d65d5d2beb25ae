import type { FailureClass } from '../domain/failure.ts';
import {
  type ItemEndState,
  type ItemState,
  isItemTerminal,
  itemStateFromCode,
  itemStateInShard,
} from '../domain/item-state.ts';
import { type Amount, parseNumeric } from '../domain/money.ts';
import type { ShardState } from '../domain/shard-state.ts';
import type { Usage } from '../domain/usage.ts';
import { fromUuid } from './ids.ts';

interface ItemIdentity {
  readonly itemId: string;
  readonly jobUuid: string;
  readonly itemNo: number;
  readonly customId: string;
  readonly requestHash: Buffer;
  readonly retryOfItemId: string | null;
  readonly retriedByItemId: string | null;
  readonly createdAt: Date;
}

/** How an item ended, with its content while that is kept. */
export interface SettledItem extends ItemIdentity {
  /** Position in the order of settlement, from 1. */
  readonly seq: number;
  readonly status: ItemEndState;
  /** JSON text exactly as the provider sent it; null where the gateway has none. */
  readonly body: string | null;
  /** Where the provider has it; null where the gateway keeps it, or kept it. */
  readonly place: ResultPlace | null;
  readonly failure: { readonly class: FailureClass; readonly code: string; readonly message: string } | null;
  /** The provider's own error as JSON text; not for tenants unless their policy says so. */
  readonly nativeError: string | null;
  readonly usage: Usage;
  readonly amount: Amount;
  /** Given back of it. */
  readonly refunded: Amount;
  /** Both in the prices of the job's customer. */
  readonly customer: { readonly amount: Amount; readonly refunded: Amount };
  readonly model: string;
  readonly responseHash: Buffer | null;
  readonly attempts: number;
  readonly settledAt: Date;
}

/** A line of a result file of an attempt. */
export interface ResultPlace {
  readonly shard: number;
  readonly attempt: number;
  /** Counted from 1, in the order in which the adapter names the files. */
  readonly file: number;
  readonly line: number;
}

export interface OpenItem extends ItemIdentity {
  readonly status: Exclude<ItemState, ItemEndState>;
  readonly attempts: number;
}

export type ItemRecord = SettledItem | OpenItem;

/** Of `batch_items` i, `item_outcomes` o and `item_results` r. */
export const ITEM_COLUMNS = `
  i.item_id, i.job_id, i.item_no, i.custom_id, i.request_hash, i.retry_of_item_id, i.retried_by_item_id, i.created_at, i.state AS item_state, i.refunded_amount,
  o.seq, o.state, o.failure_class, o.error_code, o.input_tokens, o.cached_input_tokens, o.cache_write_tokens,
  o.output_tokens, o.reasoning_tokens, o.usage_estimated, o.amount, o.model,
  coalesce(o.customer_amount, o.amount) AS customer_amount,
  CASE WHEN i.refunded_amount = 0 THEN 0
    ELSE customer_share(coalesce(o.customer_amount, o.amount), i.refunded_amount, o.amount) END AS customer_refunded,
  o.response_hash, o.shard, o.attempt, o.settled_at,
  r.body, r.error_message, r.native_error, r.file, r.line`;

interface OutcomeColumns {
  readonly seq: number;
  readonly state: number;
  readonly failure_class: FailureClass | '';
  readonly error_code: string;
  readonly input_tokens: string;
  readonly cached_input_tokens: string;
  readonly cache_write_tokens: string;
  readonly output_tokens: string;
  readonly reasoning_tokens: string;
  readonly usage_estimated: boolean;
  readonly amount: string;
  readonly customer_amount: string;
  readonly customer_refunded: string;
  readonly model: string;
  readonly response_hash: Buffer | null;
  readonly shard: number;
  readonly attempt: number;
  readonly settled_at: Date;
}

/** What pg gives for ITEM_COLUMNS. */
export type ItemViewRow = {
  readonly item_id: string;
  readonly job_id: string;
  readonly item_no: number;
  readonly custom_id: string;
  readonly request_hash: Buffer;
  readonly retry_of_item_id: string | null;
  readonly retried_by_item_id: string | null;
  readonly created_at: Date;
  readonly item_state: number;
  readonly refunded_amount: string;
  readonly body: string | null;
  readonly error_message: string | null;
  readonly native_error: string | null;
  readonly file: number | null;
  readonly line: number | null;
  readonly shard_state?: ShardState | null;
  readonly shard_attempt?: number | null;
} & (OutcomeColumns | { readonly [column in keyof OutcomeColumns]: null });

/** Throws TypeError for a row without an outcome. */
export function toSettledItem(row: ItemViewRow): SettledItem {
  if (row.seq === null) throw new TypeError('an item without an outcome is not settled');
  const status = itemStateFromCode(row.state);
  if (!isItemTerminal(status)) throw new TypeError(`an outcome cannot be ${status}`);
  return {
    ...identityOf(row),
    seq: row.seq,
    status,
    body: row.body,
    place:
      row.file === null || row.line === null
        ? null
        : { shard: row.shard, attempt: row.attempt, file: row.file, line: row.line },
    failure:
      row.failure_class === ''
        ? null
        : { class: row.failure_class, code: row.error_code, message: row.error_message ?? '' },
    nativeError: row.native_error,
    usage: {
      inputTokens: Number(row.input_tokens),
      cachedInputTokens: Number(row.cached_input_tokens),
      cacheWriteTokens: Number(row.cache_write_tokens),
      outputTokens: Number(row.output_tokens),
      reasoningTokens: Number(row.reasoning_tokens),
      estimated: row.usage_estimated,
    },
    amount: parseNumeric(row.amount),
    refunded: parseNumeric(row.refunded_amount),
    customer: { amount: parseNumeric(row.customer_amount), refunded: parseNumeric(row.customer_refunded) },
    model: row.model,
    responseHash: row.response_hash,
    attempts: row.attempt,
    settledAt: row.settled_at,
  };
}

export function toItemRecord(row: ItemViewRow): ItemRecord {
  if (row.seq !== null) return toSettledItem(row);
  const status = itemStateInShard(itemStateFromCode(row.item_state), row.shard_state ?? null);
  if (isItemTerminal(status)) throw new TypeError('an item without an outcome has not ended');
  return { ...identityOf(row), status, attempts: row.shard_attempt ?? 0 };
}

function identityOf(row: ItemViewRow): ItemIdentity {
  return {
    itemId: fromUuid('item', row.item_id),
    jobUuid: row.job_id,
    itemNo: row.item_no,
    customId: row.custom_id,
    requestHash: row.request_hash,
    retryOfItemId: row.retry_of_item_id === null ? null : fromUuid('item', row.retry_of_item_id),
    retriedByItemId: row.retried_by_item_id === null ? null : fromUuid('item', row.retried_by_item_id),
    createdAt: row.created_at,
  };
}
