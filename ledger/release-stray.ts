import type { Database } from '../db/client.ts';
import { parseJobId } from '../db/ids.ts';
import { findLockedJobRow, type JobKey } from '../db/job-rows.ts';
import { readStrayMoney, type StraySubmission } from '../db/stray-holds.ts';
import { inTransaction } from '../db/transaction.ts';
import { findBucket } from '../domain/bucket.ts';
import { formatAmount } from '../domain/money.ts';
import { mayReleaseStray } from '../domain/stray-hold.ts';
import { releaseHolds } from './draw.ts';
import { appendEntry } from './entries.ts';

export interface StrayRelease {
  readonly tenantId: string | null;
  readonly isReleased: boolean;
  /** Amounts as text, for the report. */
  readonly facts: Readonly<Record<string, unknown>>;
}

/**
 * Gives back what is still held for a submission that is over, by the statement that every job ends with; leaves it held
 * where the sums do not agree. Null where nothing is stray any more.
 */
export async function releaseStray(
  db: Database,
  { jobId, submissionNo }: StraySubmission,
  now: Date,
): Promise<StrayRelease | null> {
  return inTransaction(db, async (client) => {
    const job = await findLockedJobRow(client, jobId);
    const key = job?.key ?? keyOfGone(jobId);
    const money = await readStrayMoney(client, key, submissionNo);
    if (money === null) return null;
    const { tenantId, amounts, drawn, charged, reserved, wasReleased } = money;
    const facts = {
      submission_no: submissionNo,
      state: job?.state ?? 'gone',
      amounts: amounts.map(formatAmount),
      drawn: drawn.map(formatAmount),
      charged: formatAmount(charged),
      reserved: reserved === null ? null : formatAmount(reserved),
      was_released: wasReleased,
    };
    if (!mayReleaseStray(money)) return { tenantId, isReleased: false, facts };
    const released = await releaseHolds(client, key, submissionNo, now);
    if (released > 0n) {
      await appendEntry(client, key, {
        itemNo: 0,
        act: 'released',
        ordinal: submissionNo,
        amount: released,
        actor: 'gateway',
        cause: 'sweep',
      });
    }
    return { tenantId, isReleased: true, facts: { ...facts, released: formatAmount(released) } };
  });
}

function keyOfGone(jobId: string): JobKey {
  const named = parseJobId(jobId);
  const bucket = findBucket(jobId);
  if (named === null || bucket === null) throw new Error(`${jobId} is no job's id`);
  return { ...named, bucket };
}
