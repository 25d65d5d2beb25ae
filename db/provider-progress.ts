import type pg from 'pg';
import type { JobKey } from './job-rows.ts';

/** Sums the providers' own words on progress over the job's open attempts: a hint, never counts and never money. */
export async function recordProviderProgress(
  client: Pick<pg.PoolClient, 'query'>,
  job: JobKey,
  { now, endsAt }: { now: Date; endsAt: Date | null },
): Promise<void> {
  await client.query(
    `UPDATE job_progress p SET provider_completed = s.completed, provider_failed = s.failed, progress_as_of = $2, estimated_completion_at = $3
     FROM (
       SELECT sum(progress_completed)::int AS completed, sum(progress_failed)::int AS failed FROM batch_provider_metadata WHERE job_id = $1
     ) s
     WHERE p.job_id = $1`,
    [job.uuid, now, endsAt],
  );
}
