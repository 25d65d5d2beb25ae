import { CancellationScope, continueAsNew, patched, setHandler } from '@temporalio/workflow';
import { historyIsLong } from './history.ts';
import {
  cancelSignal,
  type ProviderBatchInput,
  pollNowSignal,
  providerBatchStateQuery,
  rowsChangedSignal,
} from './messages.ts';
import { ShardRun } from './shard-run.ts';

/**
 * One shard, from planned to settled: submit once, poll to the provider's end, bring the results home, settle.
 * The shard's rows decide every step, so a new run of this workflow goes on wherever the last one stopped.
 */
export async function providerBatch(input: ProviderBatchInput): Promise<void> {
  const run = new ShardRun(input);
  setHandler(pollNowSignal, () => run.wake(), { description: 'Ask the provider now instead of at the next poll' });
  setHandler(cancelSignal, () => run.hearCancel(), {
    description: 'Look now whether a cancel of the job was requested',
  });
  setHandler(rowsChangedSignal, () => run.readRows(), {
    description: 'Stop waiting and read the rows again: an operator changed them',
  });
  setHandler(providerBatchStateQuery, () => run.state, { description: 'Attempt, native status and next poll' });

  // Temporal's own cancel takes the same road as the signal: it must wake the work, never cut off what may be billed.
  CancellationScope.current().cancelRequested.catch(() => run.hearCancel());
  await CancellationScope.nonCancellable(async () => {
    do {
      while (!(await run.advance())) {
        if (historyIsLong(input.maxHistoryEvents)) await continueAsNew<typeof providerBatch>(run.carriedOver());
      }
      await run.tellJob();
      // An operator's wish may come while this run is about to end: nobody else would hear it.
    } while (run.haveRowsChanged && patched('late-rows-changed'));
  });
}
