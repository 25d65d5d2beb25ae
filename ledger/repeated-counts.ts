import type pg from 'pg';
import type { JobRow } from '../db/job-rows.ts';
import type { ShardRow } from '../db/shards.ts';
import type { EndedCount } from '../domain/settled-counts.ts';

/** Whether the shard holds retries, made by the job itself after the items it was given. */
export function holdsRetries(job: JobRow, shard: Pick<ShardRow, 'firstItemNo'>): boolean {
  return shard.firstItemNo >= job.firstItemNo + job.itemCount;
}

/** How the items ended that those of the shard repeat which settled after `lastSeq`; none for a shard without retries. */
export async function countRepeated(
  client: Pick<pg.PoolClient, 'query'>,
  { job, shard }: { readonly job: JobRow; readonly shard: ShardRow },
  lastSeq: number,
): Promise<EndedCount[]> {
  if (!holdsRetries(job, shard)) return [];
  const { uuid, bucket } = job.key;
  const { rows } = await client.query<EndedCount>(
    `WITH repeated AS MATERIALIZED (
       SELECT i.retry_of_item_no AS item_no
       FROM item_outcomes_${bucket} o
       JOIN batch_items_${bucket} i ON i.job_id = $1 AND i.bucket = $2 AND i.item_no BETWEEN $4 AND $5 AND i.item_no = o.item_no
       WHERE o.job_id = $1 AND o.bucket = $2 AND o.seq > $3
     )
     SELECT o.state, o.error_code, count(*)::int AS items
     FROM repeated r JOIN item_outcomes_${bucket} o ON o.job_id = $1 AND o.bucket = $2 AND o.item_no = r.item_no
       AND o.item_no BETWEEN (SELECT min(item_no) FROM repeated) AND (SELECT max(item_no) FROM repeated)
     GROUP BY o.state, o.error_code`,
    [uuid, bucket, lastSeq, shard.firstItemNo, shard.lastItemNo],
  );
  return rows;
}
