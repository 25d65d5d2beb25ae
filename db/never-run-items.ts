import type pg from 'pg';
import { remainderOutcome } from '../domain/close-reason.ts';
import { itemStateCode } from '../domain/item-state.ts';
import type { JobRecord } from './job-view.ts';
import { ITEM_COLUMNS, type ItemViewRow, type SettledItem, toSettledItem } from './result-rows.ts';

type NeverRunJob = Pick<JobRecord, 'uuid' | 'bucket' | 'manifestNo' | 'firstItemNo' | 'completedAt'>;

const { state, failure } = remainderOutcome('cancelled');

/**
 * Items of a job that was cancelled before it was accepted, in their order after `afterSeq`. Nothing was held, sent or
 * settled, so there are no outcomes: each ended with its job, and its position is that in the manifest.
 */
export async function listNeverRunItems(
  db: Pick<pg.ClientBase, 'query'>,
  job: NeverRunJob,
  { customId }: { readonly customId?: string | undefined },
  { afterSeq, throughSeq }: { readonly afterSeq: number; readonly throughSeq: number },
  limit: number,
): Promise<SettledItem[]> {
  const before = job.firstItemNo - 1;
  const { rows } = await db.query<ItemViewRow>(
    `SELECT ${ITEM_COLUMNS}
     FROM batch_items i
     CROSS JOIN LATERAL (
       SELECT i.item_no - $4::int AS seq, $8::smallint AS state, $9::text AS failure_class, $10::text AS error_code, 0::bigint AS input_tokens,
         0::bigint AS cached_input_tokens, 0::bigint AS cache_write_tokens, 0::bigint AS output_tokens, 0::bigint AS reasoning_tokens,
         false AS usage_estimated, 0::numeric AS amount, NULL::numeric AS customer_amount, ''::text AS model, NULL::bytea AS response_hash,
         0 AS shard, 0 AS attempt, $12::timestamptz AS settled_at
     ) o
     CROSS JOIN (SELECT NULL::text AS body, $11::text AS error_message, NULL::text AS native_error, NULL::smallint AS file, NULL::int AS line) r
     WHERE i.bucket = $1 AND i.job_id = $2 AND i.manifest_no = $3 AND i.item_no > $4 + $5 AND i.item_no <= $4 + $6
       AND ($7::text IS NULL OR i.custom_id = $7)
     ORDER BY i.item_no LIMIT $13`,
    [
      job.bucket,
      job.uuid,
      job.manifestNo,
      before,
      afterSeq,
      throughSeq,
      customId ?? null,
      itemStateCode(state),
      failure.class,
      failure.code,
      failure.message,
      job.completedAt,
      limit,
    ],
  );
  return rows.map(toSettledItem);
}
