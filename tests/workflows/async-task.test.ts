import { expect, test } from 'vitest';
import { createTaskControl } from '../../worker/task-control.ts';
import { asyncTaskWorkflowId } from '../../workflows/ids.ts';
import { type AsyncTaskInput, taskChangedSignal } from '../../workflows/messages.ts';
import { searchAttributes } from '../../workflows/search-attributes.ts';
import { asyncTaskStart } from '../../workflows/start-options.ts';
import { directQueue } from '../../workflows/task-queues.ts';
import { eventually } from '../harness/eventually.ts';
import { TASK_FAILED, taskAgain } from './fake-tasks.ts';
import { readEvents, summaryOf } from './read-history.ts';
import { useFakeEngine } from './use-fake-engine.ts';

const engine = useFakeEngine();
const HOUR_MS = 3_600_000;

function taskOf(taskId: string) {
  const provider = 'openai';
  const state = 'QUEUED' as const;
  return { taskId, tenantId: 'acme', customerId: 'cust_1', provider, providerModel: 'gpt-4o-mini', state, attempts: 0 };
}

function startOf(taskId: string, input: Partial<AsyncTaskInput> = {}) {
  const start = asyncTaskStart(taskOf(taskId));
  return { ...start, args: [{ ...start.args[0], ...input }] };
}

test.concurrent('a task is tried until its row says that it is over, on the queue of its provider', async () => {
  const { client, tasks } = engine();
  tasks.add('task_retried', [taskAgain(20), taskAgain(20)]);
  expect(await client.workflow.execute('asyncTask', startOf('task_retried'))).toEqual({ state: 'COMPLETED' });
  expect(tasks.callsOf('task_retried')).toHaveLength(3);
  tasks.add('task_failed', [taskAgain(20), TASK_FAILED]);
  expect(await client.workflow.execute('asyncTask', startOf('task_failed'))).toEqual({ state: 'FAILED' });
  const scheduled = (await readEvents(client, asyncTaskWorkflowId('task_failed'))).filter(
    (event) => event.activityTaskScheduledEventAttributes,
  );
  const queues = scheduled.map((event) => event.activityTaskScheduledEventAttributes?.taskQueue?.name);
  expect(queues).toEqual([directQueue('openai'), directQueue('openai')]);
  expect(scheduled.map(summaryOf)).toEqual(['one attempt', 'one attempt']);
});

test.concurrent('it waits for as long as the attempt says, and a signal ends the wait', async () => {
  const { client, tasks } = engine();
  tasks.add('task_waiting', [taskAgain(HOUR_MS)]);
  const handle = await client.workflow.start('asyncTask', startOf('task_waiting'));
  await eventually(async () =>
    (await readEvents(client, handle.workflowId)).some((event) => event.timerStartedEventAttributes),
  );
  const timer = (await readEvents(client, handle.workflowId)).find((event) => event.timerStartedEventAttributes);
  expect(Number(timer?.timerStartedEventAttributes?.startToFireTimeout?.seconds)).toBe(3_600);
  expect(tasks.callsOf('task_waiting')).toHaveLength(1);
  await handle.signal(taskChangedSignal);
  expect(await handle.result()).toEqual({ state: 'COMPLETED' });
});

test.concurrent("Temporal's own cancel ends a queued task as a cancel by the api does, and no attempt is cut off", async () => {
  const { client, tasks } = engine();
  tasks.add('task_cancelled', [taskAgain(HOUR_MS)]);
  const handle = await client.workflow.start('asyncTask', startOf('task_cancelled'));
  await eventually(() => tasks.callsOf('task_cancelled').length === 1);
  await handle.cancel();
  expect(await handle.result()).toEqual({ state: 'FAILED' });
  expect(tasks.callsOf('task_cancelled')).toEqual([{ cancel: false }, { cancel: true }]);
  expect((await handle.describe()).status.name).toBe('COMPLETED');
});

test.concurrent('many attempts are continued as new, with small histories', async () => {
  const { client, tasks } = engine();
  tasks.add('task_long', Array(12).fill(taskAgain(5)));
  const start = startOf('task_long', { maxHistoryEvents: 30 });
  expect(await client.workflow.execute('asyncTask', start)).toEqual({ state: 'COMPLETED' });
  expect(tasks.callsOf('task_long')).toHaveLength(13);
  const events = await readEvents(client, start.workflowId);
  expect(events.length).toBeLessThan(60);
  expect(events[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId).not.toBe('');
});

test.concurrent('it is found by tenant, customer, provider and model, never by its content, and its state is its result', async () => {
  const { client, tasks } = engine();
  tasks.add('task_found', [TASK_FAILED]);
  const handle = await client.workflow.start('asyncTask', startOf('task_found'));
  expect(await handle.result()).toEqual({ state: 'FAILED' });
  const { typedSearchAttributes, ...described } = await handle.describe();
  const { tenant, customer, provider, model } = searchAttributes;
  const found = [tenant, customer, provider, model].map((key) => typedSearchAttributes.get(key));
  expect(found).toEqual(['acme', 'cust_1', 'openai', 'gpt-4o-mini']);
  expect(await described.staticSummary()).toBe('acme · openai/gpt-4o-mini');
});

test.concurrent('a task that runs is not started twice, and one that was terminated is', async () => {
  const { client, tasks } = engine();
  const control = createTaskControl(client);
  const task = taskOf('task_swept');
  tasks.add('task_swept', [taskAgain(HOUR_MS), taskAgain(HOUR_MS)]);
  expect(await control.start(task)).toBe(true);
  await eventually(() => tasks.callsOf('task_swept').length === 1);
  expect(await control.start(task)).toBe(false);
  await client.workflow.getHandle(asyncTaskWorkflowId('task_swept')).terminate();
  expect(await control.start(task)).toBe(true);
  await eventually(() => tasks.callsOf('task_swept').length === 2);
  await control.wake('task_swept');
  expect(await client.workflow.result(asyncTaskWorkflowId('task_swept'))).toEqual({ state: 'COMPLETED' });
  await control.wake('task_swept');
});
