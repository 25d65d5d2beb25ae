import type pg from 'pg';
import type { JobRow } from '../db/job-rows.ts';
import { readRunStart } from '../db/run-documents.ts';
import { endInOnePiece } from '../db/stage-times.ts';
import type { Amount } from '../domain/money.ts';
import { closeLockedJob } from './close-job.ts';
import { drawFromHolds } from './draw.ts';

/**
 * Charges what the transaction has settled of a job whose items are sent each by itself, and closes the job where those were
 * the last. `runUuid` is that of its run, which it may be the repairs of. Its row and its progress row are locked. Answers
 * whether it is over.
 */
export async function endDirectItems(
  client: pg.PoolClient,
  job: JobRow,
  { runUuid, charge, at }: { readonly runUuid: string; readonly charge: Amount; readonly at: Date },
): Promise<boolean> {
  const { rows } = await client.query<{ ended: number }>(
    'SELECT completed + failed + expired + cancelled AS ended FROM job_progress WHERE job_id = $1',
    [job.key.uuid],
  );
  if (rows[0]?.ended !== job.itemCount) {
    await drawFromHolds(client, job.key, job.submissionNo, charge);
    return false;
  }
  await endInOnePiece(client, job.key, { startedAt: await readRunStart(client, runUuid), at });
  await closeLockedJob(client, job, at, charge);
  return true;
}
