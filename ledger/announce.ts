import type pg from 'pg';
import { insertEvent } from '../db/events.ts';
import type { JobRow } from '../db/job-rows.ts';
import type { JsonObject } from '../domain/json-object.ts';

/**
 * Writes an event of a batch job in the caller's transaction, best as its last step. Of a job of another kind it says nothing:
 * what happens to a task or to a run over documents is told by their own code, in their own words.
 */
export async function announce(
  client: pg.PoolClient,
  job: Pick<JobRow, 'kind' | 'jobId' | 'tenantId'> & { readonly key: Pick<JobRow['key'], 'uuid'> },
  what: string,
  data: JsonObject,
): Promise<void> {
  if (job.kind !== 'batch') return;
  await insertEvent(client, {
    tenantId: job.tenantId,
    jobId: job.key.uuid,
    type: `batch_job.${what}`,
    data: { job_id: job.jobId, ...data },
  });
}
