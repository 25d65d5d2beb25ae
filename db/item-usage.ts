import type pg from 'pg';
import { type ItemState, itemStateFromCode } from '../domain/item-state.ts';
import { type Amount, parseNumeric } from '../domain/money.ts';
import type { Provider } from '../domain/provider.ts';
import type { Usage } from '../domain/usage.ts';
import { fromUuid } from './ids.ts';
import type { UsageJob } from './usage-jobs.ts';
import { type UsageWindow, windowCondition, windowValues } from './usage-window.ts';

/** What one item used and was charged. */
export interface ItemCharge {
  readonly seq: number;
  readonly itemId: string;
  readonly customId: string;
  readonly status: ItemState;
  readonly provider: Provider | null;
  readonly model: string;
  readonly usage: Usage;
  readonly amount: Amount;
  /** In the prices of the job's customer; null where it has none. */
  readonly customerAmount: Amount | null;
  readonly settledAt: Date;
  /** When the window of the provider's batch ended; null where the provider did not say. */
  readonly providerDeadline: Date | null;
  readonly requestHash: Buffer;
  /** Null for an item without a reply. */
  readonly responseHash: Buffer | null;
}

interface Row {
  readonly seq: number;
  readonly item_id: string;
  readonly custom_id: string;
  readonly state: number;
  readonly provider: Provider | null;
  readonly model: string;
  readonly input_tokens: string;
  readonly cached_input_tokens: string;
  readonly cache_write_tokens: string;
  readonly output_tokens: string;
  readonly reasoning_tokens: string;
  readonly usage_estimated: boolean;
  readonly amount: string;
  readonly customer_amount: string;
  readonly settled_at: Date;
  readonly expires_at: Date | null;
  readonly request_hash: Buffer;
  readonly response_hash: Buffer | null;
}

/** The last place in the order of settlement; 0 where nothing has settled. */
export async function lastSettledSeq(
  db: Pick<pg.ClientBase, 'query'>,
  job: Pick<UsageJob, 'uuid' | 'bucket'>,
): Promise<number> {
  const { rows } = await db.query<{ seq: number }>(
    'SELECT seq FROM item_outcomes WHERE bucket = $1 AND job_id = $2 ORDER BY seq DESC LIMIT 1',
    [job.bucket, job.uuid],
  );
  return rows[0]?.seq ?? 0;
}

/**
 * What each settled item of a job used, in the order of settlement. The range and the look-up of each item by its key
 * bound what a page reads: left free, the planner may read the whole job for each.
 */
export async function listItemUsage(
  db: Pick<pg.ClientBase, 'query'>,
  job: Pick<UsageJob, 'uuid' | 'bucket' | 'customerId'>,
  window: UsageWindow,
  page: { readonly afterSeq: number; readonly throughSeq: number; readonly limit: number },
): Promise<ItemCharge[]> {
  const { rows } = await db.query<Row>(
    `SELECT o.seq, i.item_id, i.custom_id, o.state, s.provider, o.model, o.input_tokens, o.cached_input_tokens,
       o.cache_write_tokens, o.output_tokens, o.reasoning_tokens, o.usage_estimated, o.amount,
       coalesce(o.customer_amount, o.amount) AS customer_amount, o.settled_at, m.expires_at, i.request_hash, o.response_hash
     FROM (
       SELECT * FROM item_outcomes o
       WHERE o.bucket = $1 AND o.job_id = $2 AND o.seq > $3 AND o.seq <= $4 AND ${windowCondition('o.settled_at', 'o.written_by', 6)}
       ORDER BY o.seq LIMIT $5
     ) o
     CROSS JOIN LATERAL (
       SELECT item_id, custom_id, request_hash FROM batch_items WHERE bucket = $1 AND job_id = $2 AND item_no = o.item_no LIMIT 1
     ) i
     LEFT JOIN batch_shards s ON s.job_id = $2 AND s.shard = o.shard
     LEFT JOIN batch_provider_metadata m ON m.job_id = $2 AND m.shard = o.shard AND m.attempt = o.attempt
     ORDER BY o.seq`,
    [job.bucket, job.uuid, page.afterSeq, page.throughSeq, page.limit, ...windowValues(window)],
  );
  return rows.map((row) => ({
    seq: row.seq,
    itemId: fromUuid('item', row.item_id),
    customId: row.custom_id,
    status: itemStateFromCode(row.state),
    provider: row.provider,
    model: row.model,
    usage: {
      inputTokens: Number(row.input_tokens),
      cachedInputTokens: Number(row.cached_input_tokens),
      cacheWriteTokens: Number(row.cache_write_tokens),
      outputTokens: Number(row.output_tokens),
      reasoningTokens: Number(row.reasoning_tokens),
      estimated: row.usage_estimated,
    },
    amount: parseNumeric(row.amount),
    customerAmount: job.customerId === null ? null : parseNumeric(row.customer_amount),
    settledAt: row.settled_at,
    providerDeadline: row.expires_at,
    requestHash: row.request_hash,
    responseHash: row.response_hash,
  }));
}
