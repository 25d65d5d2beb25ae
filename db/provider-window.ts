import type pg from 'pg';
import type { BatchLifetime } from '../domain/capability-row.ts';
import type { JobKey } from './job-rows.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** `expires_at` is the latest window end of the job's batches, `retrieval_deadline` the earliest day results are gone. */
export async function recordProviderWindow(
  client: Pick<pg.PoolClient, 'query'>,
  job: JobKey,
  accepted: {
    lifetime: Pick<BatchLifetime, 'windowHours' | 'resultRetentionDays'>;
    expiresAt: Date | null;
    acceptedAt: Date;
  },
): Promise<void> {
  const { windowHours, resultRetentionDays } = accepted.lifetime;
  const acceptedMs = accepted.acceptedAt.getTime();
  const expiresAt = accepted.expiresAt ?? (windowHours === null ? null : new Date(acceptedMs + windowHours * HOUR_MS));
  const retrievalDeadline = new Date(acceptedMs + resultRetentionDays * DAY_MS);
  await client.query(
    `UPDATE batch_jobs SET expires_at = greatest(expires_at, $2), retrieval_deadline = least(retrieval_deadline, $3) WHERE job_id = $1`,
    [job.uuid, expiresAt, retrievalDeadline],
  );
}
