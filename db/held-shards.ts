import type pg from 'pg';
import type { JobRow } from './job-rows.ts';
import { refreshJobState } from './shards.ts';

/** What a shard waits for that its job holds back. */
export const NOT_BEFORE = 'not_before';

/** Shows that the planned shards of a job are held back. Its row must be locked; its state is the caller's to refresh. */
export async function holdShards(client: pg.PoolClient, job: JobRow, since: Date): Promise<void> {
  await client.query(
    `UPDATE batch_shards SET waiting_reason = $2, waiting_since = $3
     WHERE job_id = $1 AND state = 'planned' AND waiting_reason IS NULL`,
    [job.key.uuid, NOT_BEFORE, since],
  );
}

/** Ends that wait of all of them at once. The job's row must be locked. */
export async function releaseShards(client: pg.PoolClient, job: JobRow): Promise<void> {
  await client.query(
    `UPDATE batch_shards SET waiting_reason = NULL, waiting_since = NULL WHERE job_id = $1 AND waiting_reason = $2`,
    [job.key.uuid, NOT_BEFORE],
  );
  await refreshJobState(client, job);
}
