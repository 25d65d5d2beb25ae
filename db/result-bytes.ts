import type pg from 'pg';

/** Rows measured at once: their sizes are in the table itself, so bodies are not read. */
const STEP_ITEMS = 20_000;
/** A longer list waits for the next call. */
const MAX_JOBS = 1_000;
/** Of small jobs so many times as many. */
const MAX_ROUNDS = 100;
const SMALL_ITEMS = 10;

interface Unmeasured {
  readonly uuid: string;
  readonly bucket: number;
  readonly seq: number;
}

/**
 * Measures the replies of jobs that have new ones since they were last measured, all anew, so that no fault of a count stays.
 * May be broken off and run by several at once. Returns how many jobs it measured.
 */
export async function measureResults(db: Pick<pg.Pool, 'query'>): Promise<number> {
  const small = await measureSmallJobs(db);
  const { rows } = await db.query<Unmeasured>(
    `SELECT p.job_id AS uuid, j.bucket, p.last_seq AS seq
     FROM job_progress p JOIN batch_jobs j ON j.job_id = p.job_id
     WHERE p.last_seq > p.measured_seq AND j.content_deleted_at IS NULL
     LIMIT ${MAX_JOBS}`,
  );
  for (const job of rows) {
    await db.query('UPDATE job_progress SET result_bytes = $2, measured_seq = $3 WHERE job_id = $1', [
      job.uuid,
      await measure(db, job),
      job.seq,
    ]);
  }
  return small + rows.length;
}

/** Jobs of few items, as every task is: many in one statement. What another run has in hand is left to it. */
async function measureSmallJobs(db: Pick<pg.Pool, 'query'>): Promise<number> {
  let measured = 0;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const { rowCount } = await db.query(
      `WITH due AS (
         SELECT p.job_id, j.bucket, p.last_seq FROM job_progress p JOIN batch_jobs j ON j.job_id = p.job_id
         WHERE p.last_seq > p.measured_seq AND j.content_deleted_at IS NULL AND j.item_count <= ${SMALL_ITEMS}
         LIMIT ${MAX_JOBS} FOR NO KEY UPDATE OF p SKIP LOCKED
       )
       UPDATE job_progress p SET measured_seq = due.last_seq, result_bytes = coalesce((
         SELECT sum(octet_length(r.body)) FROM item_results r WHERE r.bucket = due.bucket AND r.job_id = due.job_id), 0)
       FROM due WHERE p.job_id = due.job_id`,
    );
    measured += rowCount ?? 0;
    if ((rowCount ?? 0) < MAX_JOBS) break;
  }
  return measured;
}

async function measure(db: Pick<pg.Pool, 'query'>, { uuid, bucket }: Unmeasured): Promise<number> {
  let bytes = 0;
  for (let after = 0; ; ) {
    const { rows } = await db.query<{ bytes: number; last: number | null }>(
      `SELECT coalesce(sum(octet_length(body)), 0)::float8 AS bytes, max(item_no) AS last FROM (
         SELECT item_no, body FROM item_results WHERE bucket = $1 AND job_id = $2 AND item_no > $3
         ORDER BY item_no LIMIT ${STEP_ITEMS}) r`,
      [bucket, uuid, after],
    );
    const [step] = rows;
    if (step === undefined || step.last === null) return bytes;
    bytes += step.bytes;
    after = step.last;
  }
}
