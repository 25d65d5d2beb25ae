import type { Database } from './client.ts';

/** Rows of a step are deleted in well under a second. */
const STEP_ITEMS = 10_000;
/** Whoever was reading a manifest when it was replaced may finish the page in hand, and the next few. */
const GRACE_MS = 60_000;
/** A longer list waits for the next call. */
const MAX_JOBS = 100;

interface OldManifests {
  readonly uuid: string;
  readonly bucket: number;
  readonly manifestNo: number;
  readonly firstItemNo: number;
}

/**
 * Deletes what is left of replaced manifests, a step at a time, each on its own: it may be broken off and called by any
 * number of processes. A manifest goes a minute after it was replaced. Returns how many items it deleted.
 */
export async function reapOldGenerations(db: Pick<Database, 'pool'>, now: Date): Promise<number> {
  let deleted = 0;
  for (const job of await listOldManifests(db, now)) deleted += await deleteOldItems(db, job);
  return deleted;
}

/** The groups of a replaced manifest stay until its items are gone, and so are the list of what is to do. */
async function listOldManifests({ pool }: Pick<Database, 'pool'>, now: Date): Promise<OldManifests[]> {
  const { rows } = await pool.query<OldManifests>(
    `SELECT j.job_id AS uuid, j.bucket, j.manifest_no AS "manifestNo", j.first_item_no AS "firstItemNo"
     FROM batch_jobs j
     WHERE j.manifest_no > 1
       AND EXISTS (SELECT 1 FROM job_item_groups g WHERE g.job_id = j.job_id AND g.manifest_no < j.manifest_no)
       AND NOT EXISTS (SELECT 1 FROM batch_items i WHERE i.bucket = j.bucket AND i.job_id = j.job_id
         AND i.item_no = j.first_item_no AND i.created_at > $1)
     LIMIT ${MAX_JOBS}`,
    [new Date(now.getTime() - GRACE_MS)],
  );
  return rows;
}

/** Items of the manifest in force begin at `firstItemNo`, which only ever grows: whatever lies below is of an older one. */
async function deleteOldItems({ pool }: Pick<Database, 'pool'>, job: OldManifests): Promise<number> {
  let deleted = 0;
  for (;;) {
    const { rows } = await pool.query<{ first: number | null }>(
      'SELECT min(item_no) AS first FROM batch_items WHERE bucket = $1 AND job_id = $2 AND item_no < $3',
      [job.bucket, job.uuid, job.firstItemNo],
    );
    const first = rows[0]?.first ?? null;
    if (first === null) break;
    const range = [job.bucket, job.uuid, first, Math.min(first + STEP_ITEMS, job.firstItemNo)];
    // Requests first: an item row left behind by a crash leads back here, a request alone would not.
    for (const table of ['item_requests', 'batch_items']) {
      const gone = await pool.query(
        `DELETE FROM ${table} WHERE bucket = $1 AND job_id = $2 AND item_no >= $3 AND item_no < $4`,
        range,
      );
      if (table === 'batch_items') deleted += gone.rowCount ?? 0;
    }
  }
  await pool.query('DELETE FROM job_item_groups WHERE job_id = $1 AND manifest_no < $2', [job.uuid, job.manifestNo]);
  return deleted;
}
