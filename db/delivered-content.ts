import type pg from 'pg';
import type { JobKey } from './job-rows.ts';
import { notHeld } from './legal-holds.ts';

type Queryable = Pick<pg.ClientBase, 'query'>;

const DELETE_AT_ONCE = 10_000;

/** Deletes what webhooks hold of a job's content, on their way or not. They are not sent any more. */
export async function deleteDeliveredContent(db: Queryable, job: Pick<JobKey, 'uuid'>): Promise<void> {
  await db.query('UPDATE webhook_deliveries SET sealed_body = NULL WHERE content_of = $1 AND sealed_body IS NOT NULL', [
    job.uuid,
  ]);
}

/**
 * The same of jobs that keep no content, once their read window is over and nothing holds them; returns of how many webhooks. One
 * that is still tried keeps its content to its own end, whatever the window says.
 */
export async function deleteDueDeliveredContent(db: Queryable, now: Date): Promise<number> {
  const { rowCount } = await db.query(
    `UPDATE webhook_deliveries SET sealed_body = NULL WHERE delivery_id IN (
       SELECT d.delivery_id FROM webhook_deliveries d JOIN batch_jobs j ON j.job_id = d.content_of
       WHERE d.sealed_body IS NOT NULL AND d.state <> 'pending' AND j.storage IN ('pointers', 'hashes')
         AND j.completed_at + j.read_window_ms * interval '1 millisecond' <= $1 AND ${notHeld('j')} LIMIT $2)`,
    [now, DELETE_AT_ONCE],
  );
  return rowCount ?? 0;
}
