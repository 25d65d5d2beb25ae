import { cancelQueuedOfRun } from '../../db/document-cancels.ts';
import { announceRunFinished } from '../../db/document-events.ts';
import { type DocumentRunRow, finishRun, getRun, lockBatchOf } from '../../db/document-runs.ts';
import { getJobRow, type JobRow, lockJobRow } from '../../db/job-rows.ts';
import { readOpenDocuments } from '../../db/run-documents.ts';
import { listShards } from '../../db/shards.ts';
import { inTransaction } from '../../db/transaction.ts';
import { isTerminal } from '../../domain/job-state.ts';
import { recordJobCancel } from '../../ledger/cancels.ts';
import { endDirectItems } from '../../ledger/end-direct-job.ts';
import type { ActivityDependencies } from '../dependencies.ts';
import type { DocumentRunActivities, DocumentRunStep } from '../interfaces.ts';
import { createPlanShards } from '../plan-shards.ts';
import { wakeShards } from '../queue-turn.ts';
import { planRepairs } from './plan-repairs.ts';
import { settleUnsent } from './settle-unsent.ts';

/** The workflow of a batch job tells of its end; a run that was not told looks by itself. */
const LOOK_AGAIN_MS = 5 * 60_000;

/**
 * What comes next of a run, by its rows. On the way it does what takes no more than Postgres: settles what was canceled, hands
 * the batch job over, plans the repairs, and ends the run with its event. Repeating it changes nothing.
 */
export function createReviewRun(dependencies: ActivityDependencies): DocumentRunActivities['reviewRun'] {
  const { db, now, settings, log } = dependencies;
  return async ({ runId, cancel = false }) => {
    const run = await getRun(db.pool, runId);
    if (run.state === 'finished') return { kind: 'over' };
    if (cancel) await cancelRun(dependencies, run);
    const job = await getJobRow(db.pool, runId);
    if (run.mode === 'batch') {
      const step = await reviewBatch(dependencies, run, job);
      if (step !== null) return step;
    } else {
      await settleEnded(dependencies, run);
    }
    const { open, due, nextAt } = await readOpenDocuments(db.pool, run.uuid, now());
    if (due > 0)
      return { kind: 'attempt', lanes: Math.min(due, settings.documentsAtOnce), ...(await queueOf(dependencies, run)) };
    if (open > 0) return { kind: 'wait', delayMs: delayUntil(nextAt, now()) };
    // What was canceled since it was looked at above; nothing is left that could be from here on.
    if (run.mode === 'direct') await settleEnded(dependencies, run);
    await endRun(dependencies, run);
    log.info({ runId, tenantId: run.tenantId, documents: run.documents }, 'documents run finished');
    return { kind: 'over' };
  };
}

function delayUntil(nextAt: Date | null, at: Date): number {
  return nextAt === null ? LOOK_AGAIN_MS : Math.max(1, Math.min(LOOK_AGAIN_MS, nextAt.getTime() - at.getTime()));
}

/** Attempts are of the job of the repairs, in batch mode. */
async function queueOf(
  { db }: ActivityDependencies,
  { runId, mode, repairJobId }: DocumentRunRow,
): Promise<{ readonly provider: string }> {
  const job = await getJobRow(db.pool, mode === 'direct' ? runId : (repairJobId ?? runId));
  return { provider: providerOf(job) };
}

function providerOf({ jobId, resolvedProvider }: JobRow): string {
  if (resolvedProvider === null) throw new Error(`${jobId} was accepted without a provider`);
  return resolvedProvider;
}

/** Null once its batch job is over, and its repairs are planned. */
async function reviewBatch(
  dependencies: ActivityDependencies,
  run: DocumentRunRow,
  job: JobRow,
): Promise<DocumentRunStep | null> {
  const { db, workflows } = dependencies;
  if (run.writtenThrough < run.documents) return { kind: 'write', provider: providerOf(job) };
  if (!isTerminal(job.state)) {
    await createPlanShards(dependencies)({ jobId: job.jobId });
    await settleEnded(dependencies, run);
    await workflows.start({
      ...{ jobId: job.jobId, submissionNo: job.submissionNo, tenantId: job.tenantId, customerId: job.customerId },
      ...{ model: job.requestedModel, itemCount: job.itemCount, submittedAt: job.submittedAt },
      cancelRequested: job.cancelRequestedAt !== null,
    });
    const { state } = await getJobRow(db.pool, job.jobId);
    if (!isTerminal(state)) return { kind: 'wait', delayMs: LOOK_AGAIN_MS };
  }
  await planRepairs(dependencies, run, job);
  return null;
}

/**
 * Somebody wants the run to end: what was not begun is canceled, what is under way finishes. Of a batch job that is handed over,
 * its own workflow hears of it, and what the provider has is cancelled there.
 */
async function cancelRun({ db, workflows, now }: ActivityDependencies, run: DocumentRunRow): Promise<void> {
  const isHandedOver = await inTransaction(db, async (client) => {
    const job = await lockJobRow(client, run.runId);
    if (isTerminal(job.state)) return false;
    await recordJobCancel(client, job, { by: 'temporal', reason: 'workflow cancelled', now: now() });
    await cancelQueuedOfRun(client, run.uuid, now());
    return (await listShards(client, job.key)).length > 0;
  });
  if (run.mode === 'batch' && isHandedOver) await workflows.signalCancel(run.runId);
}

/** Settles what ended before it was sent, and ends what that was the last of. */
async function settleEnded(dependencies: ActivityDependencies, run: DocumentRunRow): Promise<void> {
  const { db, now } = dependencies;
  const touched = await inTransaction(db, async (client) => {
    const job = await lockJobRow(client, run.runId);
    if (isTerminal(job.state)) return [];
    const shards = await settleUnsent(client, job, now());
    // The workflow of a batch job ends that one.
    if (run.mode === 'direct') await endDirectItems(client, job, { runUuid: run.uuid, charge: 0n, at: now() });
    return shards;
  });
  if (run.mode === 'direct') return;
  // One that waits for its turn, or for its time, may have nothing left to wait for.
  await wakeShards(
    dependencies,
    touched.map((shard) => ({ jobId: run.runId, shard })),
  );
}

/** With its batch locked: of runs that end together, the last sees that all is done. */
async function endRun({ db, now }: ActivityDependencies, run: DocumentRunRow): Promise<void> {
  await inTransaction(db, async (client) => {
    await lockBatchOf(client, run);
    const { open } = await readOpenDocuments(client, run.uuid, now());
    if (open > 0) throw new Error(`${run.runId} has ${open} open documents`);
    if (!(await finishRun(client, run, now()))) return;
    await announceRunFinished(client, { batchId: run.batchId, runId: run.runId, jobUuid: run.uuid });
  });
}
