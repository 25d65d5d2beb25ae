import {
  CancellationScope,
  condition,
  continueAsNew,
  proxyActivities,
  setCurrentDetails,
  setHandler,
} from '@temporalio/workflow';
import type { TaskActivities } from '../activities/interfaces.ts';
import { detailsTable } from './details.ts';
import { historyIsLong } from './history.ts';
import { type AsyncTaskInput, taskChangedSignal } from './messages.ts';
import { ownAttribute } from './own-attribute.ts';
import { DIRECT_POLICY } from './policies.ts';
import { searchAttributes } from './search-attributes.ts';
import { directQueue } from './task-queues.ts';

/**
 * One task: an attempt, a wait, and so on until its row says that it is over. A signal ends a wait. Temporal's own cancel (the
 * Web UI's button) does what a cancel by the api does, as soon as the task is queued: an attempt under way is not cut off.
 */
export async function asyncTask(input: AsyncTaskInput): Promise<{ state: string }> {
  const { taskId, provider, maxHistoryEvents } = input;
  const policy = { ...DIRECT_POLICY, taskQueue: directQueue(provider), summary: 'one attempt' };
  const { attemptTask } = proxyActivities<TaskActivities>(policy);
  let hasChanged = false;
  let isCancelled = input.cancel ?? false;
  const change = () => {
    hasChanged = true;
  };
  setHandler(taskChangedSignal, change, { description: 'Stop waiting and look at the row: it was changed' });
  CancellationScope.current().cancelRequested.catch(() => {
    isCancelled = true;
    change();
  });
  return CancellationScope.nonCancellable(async () => {
    for (;;) {
      hasChanged = false;
      const step = await attemptTask({ taskId, ...(isCancelled && { cancel: true }) });
      if (step.kind === 'over') {
        show(input, step.state);
        return { state: step.state };
      }
      show(input, `waits ${Math.ceil(step.delayMs / 1_000)} s for its next attempt`);
      await condition(() => hasChanged, Math.max(1, step.delayMs), { summary: 'then the next attempt' });
      if (historyIsLong(maxHistoryEvents))
        await continueAsNew<typeof asyncTask>({ ...input, ...(isCancelled && { cancel: true }) });
    }
  });
}

function show({ taskId, provider }: AsyncTaskInput, stage: string): void {
  setCurrentDetails(
    detailsTable(stage, [
      ['task', taskId],
      ['tenant', ownAttribute(searchAttributes.tenant) ?? 'not known'],
      ['model', `${provider}/${ownAttribute(searchAttributes.model) ?? 'not known'}`],
    ]),
  );
}
