import type pg from 'pg';
import type { JobRow } from './job-rows.ts';
import { moveShard, type ShardRow } from './shards.ts';
import { splitStages } from './stage-times.ts';

const IS_OPEN = `NOT EXISTS (SELECT 1 FROM item_outcomes o WHERE o.job_id = $1 AND o.bucket = $2 AND o.item_no = i.item_no)`;

/**
 * Supersedes a shard by two that hold its items without an outcome, about half the bytes each. They wait for what it
 * waited for, and since when. The job's row must be locked. False when no more than one such item is left, and nothing
 * was done.
 */
export async function splitShard(client: pg.PoolClient, job: JobRow, shard: ShardRow, now: Date): Promise<boolean> {
  const cutAt = await findCut(client, job, shard);
  if (cutAt === null) return false;
  await client.query(
    `INSERT INTO batch_shards (job_id, shard, first_item_no, last_item_no, requested_model, provider, provider_model, item_count, byte_count,
       waiting_reason, waiting_since, given_up_at)
     SELECT $1, (SELECT max(shard) FROM batch_shards WHERE job_id = $1) + half.no, half.first, half.last, $4, $5, $6,
       count(i.item_no)::int, coalesce(sum(i.request_bytes::bigint), 0), $9, $10,
       (SELECT given_up_at FROM batch_shards WHERE job_id = $1 AND shard = $11)
     FROM (VALUES (1, $3::int, $8::int - 1), (2, $8::int, $7::int)) AS half (no, first, last)
     LEFT JOIN batch_items i ON i.job_id = $1 AND i.bucket = $2 AND i.item_no BETWEEN half.first AND half.last
       AND coalesce(i.requested_model, '') = $4 AND ${IS_OPEN}
     GROUP BY half.no, half.first, half.last`,
    [
      job.key.uuid,
      job.key.bucket,
      shard.firstItemNo,
      shard.requestedModel,
      shard.provider,
      shard.providerModel,
      shard.lastItemNo,
      cutAt,
      shard.waitingReason,
      shard.waitingSince,
      shard.shard,
    ],
  );
  await splitStages(client, job.key, shard.shard);
  await moveShard(client, job, shard.shard, { state: 'superseded', waiting: null, now });
  return true;
}

/** The first item of the second half: never the first open one, so that both halves have something to send. */
async function findCut(client: pg.PoolClient, job: JobRow, shard: ShardRow): Promise<number | null> {
  const { rows } = await client.query<{ item_no: number }>(
    `SELECT item_no FROM (
       SELECT i.item_no, row_number() OVER (ORDER BY i.item_no) AS position, count(*) OVER () AS items,
         sum(i.request_bytes::bigint) OVER (ORDER BY i.item_no) AS running, sum(i.request_bytes::bigint) OVER () AS total
       FROM batch_items i
       WHERE i.job_id = $1 AND i.bucket = $2 AND i.item_no BETWEEN $3 AND $4 AND coalesce(i.requested_model, '') = $5
         AND ${IS_OPEN}
     ) open
     WHERE position > 1 AND (running * 2 > total OR position = items) ORDER BY item_no LIMIT 1`,
    [job.key.uuid, job.key.bucket, shard.firstItemNo, shard.lastItemNo, shard.requestedModel],
  );
  return rows[0]?.item_no ?? null;
}
