import type pg from 'pg';
import type { JobKey } from './job-rows.ts';

type Queryable = Pick<pg.Pool, 'query'>;

/**
 * SQL, for a document of an alias: the create of the provider's batch that it is in was sent, and nobody has said that it came to
 * nothing. The provider may be at work on it.
 */
export function isOnItsWaySql(document: string): string {
  return `EXISTS (
    SELECT FROM batch_shards s JOIN batch_provider_metadata a ON a.job_id = s.job_id AND a.shard = s.shard AND a.attempt = s.attempt
    WHERE s.job_id = ${document}.run_id AND ${document}.item_no BETWEEN s.first_item_no AND s.last_item_no AND s.state <> 'superseded'
      AND a.create_started_at IS NOT NULL AND a.closed_at IS NULL)`;
}

const ENDED_UNSENT = `d.run_id = $1 AND d.state IN ('canceled', 'failed') AND d.started_at IS NULL AND NOT ${isOnItsWaySql('d')}
  AND NOT EXISTS (SELECT FROM item_outcomes o WHERE o.job_id = d.run_id AND o.bucket = $2 AND o.item_no = d.item_no)`;

/** Items without an outcome of documents that ended before they were taken up. */
export interface EndedUnsent {
  readonly shard: number;
  readonly state: 'canceled' | 'failed';
  readonly itemNos: readonly number[];
}

/** By shard and end, in order; none of which anything is on its way to a provider. */
export async function listEndedUnsent(db: Queryable, { uuid, bucket }: JobKey): Promise<EndedUnsent[]> {
  const { rows } = await db.query<EndedUnsent>(
    `SELECT s.shard, d.state, array_agg(d.item_no ORDER BY d.item_no) AS "itemNos" FROM documents d
     JOIN batch_shards s ON s.job_id = d.run_id AND d.item_no BETWEEN s.first_item_no AND s.last_item_no AND s.state <> 'superseded'
     WHERE ${ENDED_UNSENT} GROUP BY s.shard, d.state ORDER BY s.shard, d.state`,
    [uuid, bucket],
  );
  return rows;
}

/** Whether there is any of a shard: an input file that was made before would ask about it all the same. */
export async function hasEndedUnsent(db: Queryable, job: JobKey, shard: number): Promise<boolean> {
  const ended = await listEndedUnsent(db, job);
  return ended.some((one) => one.shard === shard);
}
