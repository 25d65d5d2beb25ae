import { expect, test } from 'vitest';
import { WORKFLOW_QUEUE } from '../../workflows/task-queues.ts';
import { readEvents, summaryOf } from './read-history.ts';
import { useFakeEngine } from './use-fake-engine.ts';

const engine = useFakeEngine();

test.concurrent.each([
  ['reconcile', { started: 2, signalled: 1 }, ['recoverJobs']],
  ['retention', { removed: 3, differences: 0 }, ['tidyTables', 'verifyLedgers']],
] as const)('%s runs its sweeps and counts what they did', async (name, counts, activities) => {
  const workflowId = `${name}-sweep`;
  const taskQueue = WORKFLOW_QUEUE;
  expect(await engine().client.workflow.execute(name, { workflowId, taskQueue, args: [] })).toEqual(counts);
  const scheduled = (await readEvents(engine().client, workflowId)).filter(
    (event) => event.activityTaskScheduledEventAttributes,
  );
  expect(scheduled.map((event) => event.activityTaskScheduledEventAttributes?.activityType?.name)).toEqual(activities);
  expect(scheduled.map(summaryOf)).not.toContain(null);
});
