import type pg from 'pg';
import type { Provider } from '../domain/provider.ts';
import type { JobRecord } from './job-view.ts';

/** Where an item is, or was when it ended, and what its provider said of it. */
export interface ItemPlace {
  readonly item_no: number;
  /** Null while the job has no shards. */
  readonly shard: number | null;
  readonly attempt: number | null;
  readonly provider: Provider | null;
  readonly provider_model: string | null;
  /** Of the batch it is in; null where that was never created. */
  readonly provider_batch_id: string | null;
  readonly attempt_token: string | null;
  /** The provider's own error as JSON text. */
  readonly native_error: string | null;
}

/**
 * The last of the item's retry chain, in the batch that settled it, else in the newest of its shard; null for a custom id
 * the job does not have.
 */
export async function findItemPlace(
  db: Pick<pg.Pool, 'query'>,
  job: Pick<JobRecord, 'uuid' | 'bucket' | 'manifestNo'>,
  customId: string,
): Promise<ItemPlace | null> {
  const { rows } = await db.query<ItemPlace>(
    `SELECT i.item_no, s.shard, m.attempt, s.provider, s.provider_model, m.provider_batch_id, m.attempt_token, r.native_error
     FROM batch_items i
     LEFT JOIN item_outcomes o ON o.bucket = $1 AND o.job_id = $2 AND o.item_no = i.item_no
     LEFT JOIN item_results r ON r.bucket = $1 AND r.job_id = $2 AND r.item_no = i.item_no
     LEFT JOIN LATERAL (
       SELECT shard, provider, provider_model FROM batch_shards
       WHERE job_id = $2 AND CASE WHEN o.shard IS NULL
         THEN i.item_no BETWEEN first_item_no AND last_item_no AND state <> 'superseded' AND requested_model = coalesce(i.requested_model, '')
         ELSE shard = o.shard END
       ORDER BY shard DESC LIMIT 1
     ) s ON true
     LEFT JOIN LATERAL (
       SELECT attempt, provider_batch_id, attempt_token FROM batch_provider_metadata
       WHERE job_id = $2 AND shard = s.shard AND (o.attempt IS NULL OR o.attempt = 0 OR attempt = o.attempt)
       ORDER BY attempt DESC LIMIT 1
     ) m ON true
     WHERE i.bucket = $1 AND i.job_id = $2 AND i.manifest_no = $3 AND i.custom_id = $4
     ORDER BY i.item_attempt DESC LIMIT 1`,
    [job.bucket, job.uuid, job.manifestNo, customId],
  );
  return rows[0] ?? null;
}
