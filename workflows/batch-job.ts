import { allHandlersFinished, CancellationScope, condition, continueAsNew, setHandler } from '@temporalio/workflow';
import { historyIsLong } from './history.ts';
import { JobRun } from './job-run.ts';
import {
  admitUpdate,
  type BatchJobInput,
  batchJobStateQuery,
  cancelSignal,
  pollNowSignal,
  shardChangedSignal,
} from './messages.ts';

/**
 * One job: admit (validate, quote, reserve), plan shards, run a child for each, try failed items again in waves, reconcile
 * and announce.
 * A cancel is only a wake-up here; `cancel_requested_at` on the job's row is the truth that every step reads.
 */
export async function batchJob(input: BatchJobInput): Promise<{ state: string }> {
  const run = new JobRun(input);
  setHandler(admitUpdate, (submission) => run.verdict(submission), {
    description: 'Await the verdict on the submission; {submissionNo} names a newer one',
  });
  setHandler(cancelSignal, (request) => run.requestCancel(request), {
    description: 'Request the cancel of the job; the payload {reason, by} is optional',
  });
  setHandler(pollNowSignal, () => run.requestPoll(), { description: 'Let every open shard ask its provider now' });
  setHandler(shardChangedSignal, () => run.wake(), { description: 'A shard changed its state' });
  setHandler(batchJobStateQuery, () => run.state, { description: 'Stage and shards' });

  // Temporal's own cancel (the Web UI's button) takes the same road as the signal and ends in a settled job.
  CancellationScope.current().cancelRequested.catch(() =>
    run.requestCancel({ by: 'temporal', reason: 'workflow cancelled' }),
  );
  return CancellationScope.nonCancellable(async () => {
    const verdict = await run.admit();
    if (verdict.verdict !== 'accepted') {
      const end = run.end(verdict);
      await condition(allHandlersFinished);
      return end;
    }
    await run.plan();
    do {
      while (!(await run.advance())) {
        if (historyIsLong(input.maxHistoryEvents)) {
          await condition(allHandlersFinished);
          await continueAsNew<typeof batchJob>(run.carriedOver());
        }
      }
    } while (await run.tryAgain());
    const end = await run.reconcile();
    await condition(allHandlersFinished);
    return end;
  });
}
