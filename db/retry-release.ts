import type pg from 'pg';

/** A job that retried items, and that is gone or will never run. */
export interface EndedRetry {
  readonly uuid: string;
  readonly bucket: number;
  /** The uuid of the job whose items it had claimed. */
  readonly retryOf: string;
}

/**
 * Lets the originals of a retry be retried again: those whose copy never ran and is followed by none. The copies must still
 * be there. Wants a transaction that is `setWise`.
 */
export async function releaseOriginals(client: pg.PoolClient, { uuid, bucket, retryOf }: EndedRetry): Promise<void> {
  await client.query(
    `UPDATE batch_items original SET retried_by_item_id = NULL
     FROM batch_jobs j, batch_items copy
     WHERE j.job_id = $1 AND original.bucket = j.bucket AND original.job_id = j.job_id
       AND copy.bucket = $3 AND copy.job_id = $2 AND copy.retried_by_item_id IS NULL
       AND original.custom_id = copy.custom_id AND original.manifest_no = j.manifest_no
       AND original.item_attempt = copy.item_attempt - 1 AND original.retried_by_item_id = copy.item_id`,
    [retryOf, uuid, bucket],
  );
}
