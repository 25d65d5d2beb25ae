import { expect, test } from 'vitest';
import { createJobWorkflowControl } from '../../worker/job-workflow-control.ts';
import { providerBatchWorkflowId } from '../../workflows/ids.ts';
import { WORKFLOW_QUEUE } from '../../workflows/task-queues.ts';
import { eventually } from '../harness/eventually.ts';
import { readEvents, summaryOf } from './read-history.ts';
import { useFakeEngine } from './use-fake-engine.ts';

const engine = useFakeEngine();
const SWEPT = { looked: 4, repaired: 1, raised: 1, failed: 0 };

test.concurrent.each([
  ['reconcile', { started: 2, signalled: 1, failed: 0 }, ['recoverJobs']],
  [
    'sweep',
    { shards: SWEPT, deadlines: SWEPT, creates: SWEPT, money: SWEPT, room: SWEPT },
    ['sweepShards', 'sweepDeadlines', 'sweepCreates', 'sweepMoney', 'sweepRoom'],
  ],
  ['sweepProviders', { surplus: SWEPT }, ['sweepSurplus']],
  ['sweepWebhooks', { webhooks: SWEPT }, ['sweepWebhooks']],
  ['sweepTasks', { tasks: SWEPT, slots: SWEPT }, ['sweepTasks', 'sweepTaskSlots']],
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

test.concurrent('a sweep tells a shard that runs from one that was ended, and has the job start the latter again', async () => {
  const control = createJobWorkflowControl(engine().client);
  const job = engine().addJob({ pollDelayMs: 60_000 });
  job.batchesOpen = true;
  expect(await control.isShardRunning(job.jobId, 1)).toBe(false);
  expect(await control.wakeJob(job.jobId)).toBe(false);
  const handle = await engine().startJob(job);
  await eventually(() => job.shard(1).state === 'running');
  expect(await control.isShardRunning(job.jobId, 1)).toBe(true);
  await engine().client.workflow.getHandle(providerBatchWorkflowId(job.jobId, 1)).terminate();
  expect(await control.isShardRunning(job.jobId, 1)).toBe(false);
  job.batchesOpen = false;
  expect(await control.wakeJob(job.jobId)).toBe(true);
  expect(await handle.result()).toEqual({ state: 'completed' });
  expect(job.called('submitAttempt')).toHaveLength(1);
});
