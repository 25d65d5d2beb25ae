import { ApplicationFailure } from '@temporalio/activity';
import { expect, test } from 'vitest';
import { jobSchedule } from '../../workflows/start-options.ts';
import { WORKFLOW_QUEUE } from '../../workflows/task-queues.ts';
import { eventually } from '../harness/eventually.ts';
import { GO_ON, over, type ScheduleScript } from './fake-schedules.ts';
import { readEvents } from './read-history.ts';
import { useFakeEngine } from './use-fake-engine.ts';

const engine = useFakeEngine();

async function fire(scheduleId: string, script: ScheduleScript) {
  engine().schedules.add(scheduleId, script);
  const workflowId = `scheduled-job/${scheduleId}-2026-08-20T00:00:00Z`;
  const args = [{ v: 1, scheduleId }];
  const result = await engine().client.workflow.execute('scheduledJob', {
    workflowId,
    taskQueue: WORKFLOW_QUEUE,
    args,
  });
  const calls = engine().schedules.callsOf(scheduleId);
  return { result, workflowId, names: calls.map(({ name }) => name), calls };
}

test.concurrent('a firing makes, fills and submits one job, and waits for its verdict', async () => {
  const { result, workflowId, names, calls } = await fire('sched_ok', { submitRun: [GO_ON, over('submitted')] });
  expect(result).toEqual({ outcome: 'submitted' });
  expect(names).toEqual(['beginRun', 'fillJob', 'submitRun', 'submitRun']);
  for (const { input } of calls) expect(input).toMatchObject({ scheduleId: 'sched_ok', firing: workflowId });
});

test.concurrent.each([
  ['skipped', { beginRun: [over('skipped')] }, ['beginRun']],
  ['gone', { beginRun: [over('gone')] }, ['beginRun']],
  ['created', { fillJob: [over('created')] }, ['beginRun', 'fillJob']],
  ['failed', { submitRun: [over('failed')] }, ['beginRun', 'fillJob', 'submitRun']],
])('a run that is %s goes no further', async (outcome, answers, steps) => {
  const { result, names } = await fire(`sched_${outcome}`, answers);
  expect(result).toEqual({ outcome });
  expect(names).toEqual(steps);
});

test.concurrent('items that stay away end the run by their own words, any other fault by ours', async () => {
  const away = ApplicationFailure.create({
    type: 'items_unavailable',
    message: 'The URL answered with status 503.',
    nonRetryable: true,
  });
  const broken = ApplicationFailure.create({ type: 'unexpected', message: 'TypeError', nonRetryable: true });
  const theirs = await fire('sched_away', { fillJob: [away] });
  const ours = await fire('sched_broken', { beginRun: [broken] });
  expect([theirs.result, ours.result]).toEqual([{ outcome: 'failed' }, { outcome: 'failed' }]);
  expect(theirs.calls.at(-1)).toMatchObject({
    name: 'endRun',
    input: { error: { code: 'items_unavailable', message: 'The URL answered with status 503.' } },
  });
  expect(ours.calls.at(-1)).toMatchObject({ name: 'endRun', input: { error: { code: 'internal' } } });
});

test.concurrent('Temporal’s schedule fires with the time it was meant for, once for each trigger', async () => {
  const { client } = engine();
  const { schedules } = engine();
  schedules.add('sched_clock', { beginRun: [over('skipped')] });
  const timing = { every_seconds: 3_600 };
  const schedule = { scheduleId: 'sched_clock', tenantId: 'acme', name: 'hourly', timing, pausedAt: new Date() };
  const handle = await client.schedule.create(jobSchedule(schedule) as Parameters<typeof client.schedule.create>[0]);
  const before = Date.now();
  await handle.trigger();
  await eventually(() => schedules.callsOf('sched_clock').length === 1, { timeoutMs: 30_000 });
  const { input } = schedules.callsOf('sched_clock')[0] ?? expect.unreachable();
  expect(input.firing).toMatch(/^scheduled-job\/sched_clock-\d{4}-/);
  expect(Math.abs(Date.parse(input.scheduledFor) - before)).toBeLessThan(30_000);
  await handle.delete();
});

test.concurrent('the restoring of schedules says how many there were', async () => {
  const workflowId = 'restore-schedules';
  const options = { workflowId, taskQueue: WORKFLOW_QUEUE, args: [] };
  expect(await engine().client.workflow.execute('restoreSchedules', options)).toEqual({ restored: 2 });
  expect((await readEvents(engine().client, workflowId)).length).toBeLessThan(20);
});
