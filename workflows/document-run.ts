import {
  CancellationScope,
  condition,
  continueAsNew,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import type { DocumentActivities, DocumentRunActivities, DocumentRunStep } from '../activities/interfaces.ts';
import { detailsTable } from './details.ts';
import { historyIsLong } from './history.ts';
import { type DocumentRunInput, runChangedSignal } from './messages.ts';
import { ownAttribute } from './own-attribute.ts';
import { BULK_DATABASE_POLICY, DIRECT_POLICY, FILES_POLICY } from './policies.ts';
import { searchAttributes } from './search-attributes.ts';
import { directQueue } from './task-queues.ts';

const { reviewRun } = proxyActivities<DocumentRunActivities>({ ...BULK_DATABASE_POLICY, summary: 'what comes next' });

/**
 * One run over the documents of a batch: its rows say what comes next, and it does that. Documents that are asked about one by
 * one are taken by lanes, each one after another. A batch job, where there is one, is a workflow of its own. Temporal's own
 * cancel (the Web UI's button) cancels what was not begun; what is under way finishes.
 */
export async function documentRun(input: DocumentRunInput): Promise<void> {
  const { runId, maxHistoryEvents } = input;
  let hasChanged = false;
  let isCancelled = input.cancel ?? false;
  setHandler(
    runChangedSignal,
    () => {
      hasChanged = true;
    },
    { description: 'Stop waiting and look at the rows: they were changed' },
  );
  CancellationScope.current().cancelRequested.catch(() => {
    isCancelled = true;
    hasChanged = true;
  });

  /** Takes documents one after another until others are at what is left. */
  async function lane(provider: string): Promise<void> {
    const { attemptDocument } = on(provider);
    while (!hasChanged && !historyIsLong(maxHistoryEvents)) {
      const step = await attemptDocument({ runId });
      if (step.kind === 'idle') return;
      if (step.kind === 'wait') await wait(step.delayMs, 'then the next attempt');
    }
  }

  async function wait(delayMs: number, summary: string): Promise<void> {
    await condition(() => hasChanged, Math.max(1, delayMs), { summary });
  }

  async function act(step: Exclude<DocumentRunStep, { kind: 'over' }>): Promise<void> {
    switch (step.kind) {
      case 'write':
        await on(step.provider).writeRequests({ runId });
        return;
      case 'attempt':
        await Promise.all(Array.from({ length: step.lanes }, () => lane(step.provider)));
        return;
      case 'wait':
        await wait(step.delayMs, 'then look again');
    }
  }

  await CancellationScope.nonCancellable(async () => {
    for (;;) {
      hasChanged = false;
      const cancel = isCancelled;
      const step = await reviewRun({ runId, ...(cancel && { cancel }) });
      // Once it is in the rows it is no news any more.
      if (cancel) isCancelled = false;
      show(runId, step);
      if (step.kind === 'over') return;
      await act(step);
      if (!historyIsLong(maxHistoryEvents)) continue;
      const { cancel: _heard, ...rest } = input;
      await continueAsNew<typeof documentRun>({ ...rest, ...(isCancelled && { cancel: true }) });
    }
  });
}

function on(provider: string): DocumentActivities {
  const taskQueue = directQueue(provider);
  const { attemptDocument } = proxyActivities<DocumentActivities>({
    ...DIRECT_POLICY,
    taskQueue,
    summary: 'one document',
  });
  const { writeRequests } = proxyActivities<DocumentActivities>({
    ...FILES_POLICY,
    taskQueue,
    summary: 'make requests of files',
  });
  return { attemptDocument, writeRequests };
}

const STAGES: { readonly [kind in DocumentRunStep['kind']]: string } = {
  write: 'making requests of the files',
  attempt: 'asking about documents',
  wait: 'waiting',
  over: 'finished',
};

function show(runId: string, { kind }: DocumentRunStep): void {
  const stage = STAGES[kind];
  if (kind === 'over') upsertSearchAttributes([{ key: searchAttributes.status, value: 'finished' }]);
  setCurrentDetails(
    detailsTable(stage, [
      ['run', runId],
      ['tenant', ownAttribute(searchAttributes.tenant) ?? 'not known'],
      ['model', ownAttribute(searchAttributes.model) ?? 'not known'],
    ]),
  );
}
