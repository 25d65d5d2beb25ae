import type pg from 'pg';
import { closeUnsentAttempt } from '../../db/attempts.ts';
import type { JobRow } from '../../db/job-rows.ts';
import { getShard } from '../../db/shards.ts';
import { listEndedUnsent } from '../../db/unsent-documents.ts';
import { type FailureCode, failureClassOf } from '../../domain/failure.ts';
import { type Remainder, settleRemainderOf } from '../../ledger/settle.ts';

const CANCELED = remainder('cancelled', 'job_cancelled', 'The document was canceled before it was sent.');
const FAILED = remainder('failed', 'invalid_request', 'No request could be made of the document.');

function remainder(state: Remainder['state'], code: FailureCode, message: string): Remainder {
  return { state, failureClass: failureClassOf(code), code, message, nativeError: null };
}

/**
 * The items of documents that ended before they were taken up end with them, free of charge. An attempt that was not sent yet may
 * have a file that asks about them: it is closed, and the next one makes a file of those that are left. What was sent is left
 * alone, and what it is charged for settles. The row of the job must be locked. Answers of which shards it settled items.
 */
export async function settleUnsent(client: pg.PoolClient, job: JobRow, at: Date): Promise<readonly number[]> {
  const touched = new Set<number>();
  for (const { shard: number, state, itemNos } of await listEndedUnsent(client, job.key)) {
    await closeUnsentAttempt(client, job.key, number, at);
    const shard = await getShard(client, job.key, number);
    const { firstItemNo, lastItemNo } = shard;
    const range = { job, shard, attempt: 0, firstItemNo, lastItemNo };
    await settleRemainderOf(client, range, state === 'canceled' ? CANCELED : FAILED, itemNos);
    touched.add(number);
  }
  return [...touched];
}
