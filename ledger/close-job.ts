import type pg from 'pg';
import type { Database } from '../db/client.ts';
import { type JobRow, lockJobRow } from '../db/job-rows.ts';
import { addOutputHistory } from '../db/output-history.ts';
import { countWaveItems } from '../db/retry-waves.ts';
import { enterStage, WHOLE_JOB } from '../db/stage-times.ts';
import { inTransaction } from '../db/transaction.ts';
import type { FailureCode } from '../domain/failure.ts';
import {
  cancelOutcome,
  type EndCounts,
  endState,
  isTerminal,
  type JobState,
  jobErrorCode,
} from '../domain/job-state.ts';
import { lawHolds } from '../domain/ledger-entry.ts';
import { type Amount, formatNumeric, parseNumeric } from '../domain/money.ts';
import { splitCharge } from '../domain/overage.ts';
import { providerFilesDueAt } from '../domain/storage-terms.ts';
import { announce } from './announce.ts';
import { closeOverage } from './close-overage.ts';
import { drawFromHolds, releaseHolds } from './draw.ts';
import { appendEntries } from './entries.ts';

interface ProgressTotals extends EndCounts {
  readonly failures: { readonly [code in FailureCode]?: number };
  readonly settled: Amount;
  /** Tries that the job made itself and that have ended; the other counts leave them out. */
  readonly retries: number;
}

/**
 * Ends a submitted job in one transaction, once every item has an outcome: what is left of the hold is given back,
 * overage is dealt with by the job's policy, the end state and its event are set. Repeating it changes nothing. Answers the state, and
 * how many items are still without an outcome (then nothing was done).
 */
export async function closeJob(
  db: Database,
  jobId: string,
  now: Date,
): Promise<{ state: JobState; itemsWithoutOutcome: number }> {
  return inTransaction(db, async (client) => closeLockedJob(client, await lockJobRow(client, jobId), now));
}

/**
 * As `closeJob`, in the caller's transaction, in which the job's row is locked. `charge` is what this transaction has settled
 * and not yet drawn from the holds.
 */
export async function closeLockedJob(
  client: pg.PoolClient,
  job: JobRow,
  now: Date,
  charge: Amount = 0n,
): Promise<{ state: JobState; itemsWithoutOutcome: number }> {
  if (isTerminal(job.state)) return { state: job.state, itemsWithoutOutcome: 0 };
  const totals = await readTotals(client, job);
  const ended = totals.completed + totals.failed + totals.expired + totals.cancelled;
  // Only batches try items again in waves.
  const made = totals.total + (job.kind === 'batch' ? await countWaveItems(client, job.key) : 0);
  const open = made - ended - totals.retries;
  if (open !== 0) return { state: job.state, itemsWithoutOutcome: open };
  await addOutputHistory(client, job);
  await drawFromHolds(client, job.key, job.submissionNo, charge);
  const settled = await closeMoney(client, job, totals, now);
  const state = endState(totals);
  await recordEnd(client, job, { ...totals, settled }, state, now);
  return { state, itemsWithoutOutcome: 0 };
}

async function readTotals(client: pg.PoolClient, job: JobRow): Promise<ProgressTotals> {
  const { rows } = await client.query(
    'SELECT completed, failed, expired, cancelled, retries, failures, settled_amount FROM job_progress WHERE job_id = $1 FOR UPDATE',
    [job.key.uuid],
  );
  const row = rows[0];
  if (row === undefined) throw new Error('a submitted job has a progress row');
  const { completed, failed, expired, cancelled, retries, failures } = row;
  return {
    total: job.itemCount,
    completed,
    failed,
    expired,
    cancelled,
    retries,
    failures,
    settled: parseNumeric(row.settled_amount),
  };
}

/** Answers what the tenant is charged in the end. */
async function closeMoney(client: pg.PoolClient, job: JobRow, totals: ProgressTotals, now: Date): Promise<Amount> {
  const reserved = job.reservedAmount ?? 0n;
  const released = await releaseHolds(client, job.key, job.submissionNo, now);
  const settled = await closeOverage(client, job, totals.settled);
  const overage = splitCharge(reserved, settled).over;
  if (!lawHolds({ reserved, overage, settled, released, held: 0n })) {
    throw new Error(
      `money of ${job.jobId} does not add up: reserved ${reserved}, settled ${settled}, released ${released}`,
    );
  }
  const entry = { itemNo: 0, ordinal: job.submissionNo, actor: 'gateway', cause: 'reconcile' };
  await appendEntries(client, job.key, [
    ...(released > 0n ? [{ ...entry, act: 'released', amount: released } as const] : []),
    ...(totals.expired > 0 ? [{ ...entry, act: 'expired', amount: 0n } as const] : []),
    { ...entry, act: 'reconciled', amount: settled },
  ]);
  return settled;
}

async function recordEnd(
  client: pg.PoolClient,
  job: JobRow,
  totals: ProgressTotals,
  state: JobState,
  now: Date,
): Promise<void> {
  const code = isTerminal(state) ? jobErrorCode(state, totals.failures) : null;
  const outcome = job.cancelRequestedAt === null ? null : cancelOutcome(totals);
  await client.query(
    `UPDATE batch_jobs SET state = $2, completed_at = $3, settled_amount = $4, error = $5, cancel_outcome = $6,
       waiting_reason = NULL, waiting_since = NULL, provider_files_due_at = $7
     WHERE job_id = $1`,
    [
      job.key.uuid,
      state,
      now,
      formatNumeric(totals.settled),
      code === null
        ? null
        : JSON.stringify({ code, message: ERROR_MESSAGES[code] ?? 'Every item failed. Each item tells why.' }),
      outcome,
      // Only batches leave files at a provider.
      job.priceMode === 'batch' ? providerFilesDueAt(job.terms, now) : null,
    ],
  );
  await enterStage(client, job.key, WHOLE_JOB, null, now);
  await announce(client, job, state, { status: state, counts: countsOf(totals) });
}

/** As a job is told of: an original counts once, retries apart. */
function countsOf({ total, completed, failed, expired, cancelled, retries }: ProgressTotals) {
  return { total, completed, failed, expired, cancelled, retries };
}

const ERROR_MESSAGES: Readonly<Record<string, string>> = {
  provider_rejected: 'The provider refused the batch. Each item tells what we know of why.',
  provider_lost: 'The provider stopped knowing the batch. Its items may be retried by hand.',
  provider_credential_rejected: "The provider refused the gateway's credential for as long as the gateway waits.",
  provider_account_exhausted: "The gateway's account at the provider has run out of credit.",
  provider_queue_full: "The provider's queue stayed full for as long as the gateway waits.",
  given_up: 'An operator gave the job up.',
};
