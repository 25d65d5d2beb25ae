import { rollUpSettled, SUM_OUTCOMES } from './rollups.ts';

/**
 * The last parts of a statement that settles: takes the outcomes in `gate` over into their items, sums them up in `groups`
 * by how they ended, and adds those to the job's rollups. `$1` is the job, `$2` its bucket; `itemNos` narrows the
 * items i to those that `gate` may hold, and `shard` is the placeholder of their shard.
 */
export function moveItems(bucket: number, itemNos: string, shard: string): string {
  return `items AS (
      UPDATE batch_items_${bucket} i SET state = gate.state, actual_input_tokens = gate.input_tokens, actual_output_tokens = gate.output_tokens,
        settled_amount = gate.amount, settled_at = gate.settled_at, error_code = gate.error_code
      FROM gate WHERE i.job_id = $1 AND i.bucket = $2 AND ${itemNos} AND i.item_no = gate.item_no
      RETURNING gate.state, gate.failure_class, gate.error_code, gate.input_tokens, gate.cached_input_tokens, gate.cache_write_tokens,
        gate.output_tokens, gate.reasoning_tokens, gate.usage_estimated, gate.amount, gate.customer_amount, gate.settled_at,
        i.retry_of_item_id IS NOT NULL AS is_retry
    ),
    groups AS (
      SELECT (settled_at AT TIME ZONE 'UTC')::date AS day, state, failure_class, error_code, is_retry, ${SUM_OUTCOMES}
      FROM items GROUP BY 1, 2, 3, 4, 5
    ),
    rolled_up AS (${rollUpSettled(shard)})`;
}
