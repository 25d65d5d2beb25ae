import { createHash } from 'node:crypto';
import type { Database } from '../../db/client.ts';
import { getJobRow, type JobKey } from '../../db/job-rows.ts';
import { type ItemEndState, itemStateCode } from '../../domain/item-state.ts';
import { ROLLUP_KEY, SUM_OUTCOMES } from '../../ledger/rollups.ts';

export interface SettledTestItem {
  readonly itemNo: number;
  readonly state?: ItemEndState;
  /** JSON text of the reply. */
  readonly body?: string | null;
  readonly failure?: {
    readonly class: string;
    readonly code: string;
    readonly message: string;
    readonly native?: string;
  };
  readonly amount?: string;
}

/** Writes outcomes as a settlement would, in the given order, as numbers 1, 2, … after those there are. */
export async function settleItems(db: Database, jobId: string, items: readonly SettledTestItem[]): Promise<void> {
  const { key, itemCount } = await getJobRow(db.pool, jobId);
  await db.pool.query(
    `INSERT INTO batch_shards (job_id, shard, first_item_no, last_item_no, requested_model, provider, provider_model, item_count, byte_count, state)
     VALUES ($1, 1, 1, $2, '', 'openai', 'gpt-4o-mini', $2, 1, 'running') ON CONFLICT DO NOTHING`,
    [key.uuid, Math.max(1, itemCount)],
  );
  for (const { itemNo, state = 'completed', body = '{"ok":true}', failure, amount = '0.5' } of items) {
    const { rows } = await db.pool.query<{ seq: number }>(
      `INSERT INTO job_progress AS p (job_id, last_seq, ${state}, settled_amount) VALUES ($1, 1, 1, $2)
       ON CONFLICT (job_id) DO UPDATE SET last_seq = p.last_seq + 1, ${state} = p.${state} + 1, settled_amount = p.settled_amount + $2
       RETURNING last_seq AS seq`,
      [key.uuid, amount],
    );
    await db.pool.query(
      `INSERT INTO item_outcomes (bucket, job_id, item_no, seq, shard, attempt, state, failure_class, error_code, input_tokens,
         cached_input_tokens, cache_write_tokens, long_cache_write_tokens, output_tokens, reasoning_tokens, usage_estimated, amount, model, response_hash)
       VALUES ($1, $2, $3, $4, 1, 1, $5, $6, $7, 10, 2, 1, 0, 5, 3, false, $8, 'gpt-4o-mini', $9)`,
      [
        key.bucket,
        key.uuid,
        itemNo,
        rows[0]?.seq,
        itemStateCode(state),
        failure?.class ?? '',
        failure?.code ?? '',
        amount,
        body === null ? null : createHash('sha256').update(body).digest(),
      ],
    );
    await db.pool.query(
      'INSERT INTO item_results (bucket, job_id, item_no, body, error_message, native_error) VALUES ($1, $2, $3, $4, $5, $6)',
      [key.bucket, key.uuid, itemNo, body, failure?.message ?? null, failure?.native ?? null],
    );
  }
  await rollUp(db, key);
}

async function rollUp(db: Database, key: JobKey): Promise<void> {
  await db.pool.query('DELETE FROM job_rollups WHERE job_id = $1', [key.uuid]);
  await db.pool.query(
    `INSERT INTO job_rollups (job_id, ${ROLLUP_KEY}, items, usage_estimated_items, input_tokens, cached_input_tokens, cache_write_tokens,
       output_tokens, reasoning_tokens, amount, customer_amount)
     SELECT $1, (settled_at AT TIME ZONE 'UTC')::date, 'openai', 'gpt-4o-mini', state, failure_class, error_code, false, ${SUM_OUTCOMES}
     FROM item_outcomes WHERE job_id = $1 AND bucket = $2 GROUP BY 2, 5, 6, 7`,
    [key.uuid, key.bucket],
  );
}

/** Ends a job as its reconciliation would. */
export async function endJob(db: Database, jobId: string, state = 'completed'): Promise<void> {
  const { key } = await getJobRow(db.pool, jobId);
  await db.pool.query('UPDATE batch_jobs SET state = $2, completed_at = now() WHERE job_id = $1', [key.uuid, state]);
  await db.pool.query("UPDATE batch_shards SET state = 'settled' WHERE job_id = $1", [key.uuid]);
}
