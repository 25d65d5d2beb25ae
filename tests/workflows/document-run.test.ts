import { expect, test } from 'vitest';
import type { DocumentRunStep } from '../../activities/interfaces.ts';
import { createDocumentRunControl } from '../../worker/document-run-control.ts';
import { documentRunWorkflowId } from '../../workflows/ids.ts';
import { type DocumentRunInput, runChangedSignal } from '../../workflows/messages.ts';
import { searchAttributes } from '../../workflows/search-attributes.ts';
import { documentRunStart } from '../../workflows/start-options.ts';
import { DATABASE_QUEUE, directQueue } from '../../workflows/task-queues.ts';
import { eventually } from '../harness/eventually.ts';
import { AGAIN } from './fake-runs.ts';
import { readEvents } from './read-history.ts';
import { useFakeEngine } from './use-fake-engine.ts';

const engine = useFakeEngine();
const HOUR_MS = 3_600_000;
const WAIT: DocumentRunStep = { kind: 'wait', delayMs: HOUR_MS };
const WRITE: DocumentRunStep = { kind: 'write', provider: 'openai' };

function attempt(lanes: number): DocumentRunStep {
  return { kind: 'attempt', lanes, provider: 'openai' };
}

function runOf(runId: string) {
  return { runId, tenantId: 'acme', customerId: 'cust_1', model: 'analysis', mode: 'direct' as const, documents: 3 };
}

function startOf(runId: string, input: Partial<DocumentRunInput> = {}) {
  const start = documentRunStart(runOf(runId));
  return { ...start, args: [{ ...start.args[0], ...input }] };
}

test.concurrent('its rows say what comes next, on the queue of the provider that they name', async () => {
  const { client, runs } = engine();
  runs.add('run_plain', { reviews: [WRITE, WRITE, attempt(1)], attempts: [AGAIN, AGAIN] });
  await client.workflow.execute('documentRun', startOf('run_plain'));
  expect(runs.callsOf('run_plain')).toMatchObject({ writes: 2, attempts: 3 });
  expect(runs.callsOf('run_plain').reviews).toEqual(Array(4).fill({ cancel: false }));
  const queues = (await readEvents(client, documentRunWorkflowId('run_plain'))).flatMap((event) => {
    const scheduled = event.activityTaskScheduledEventAttributes;
    return scheduled ? [[scheduled.activityType?.name, scheduled.taskQueue?.name]] : [];
  });
  expect(new Map(queues as [string, string][])).toEqual(
    new Map([
      ['reviewRun', DATABASE_QUEUE],
      ['writeRequests', directQueue('openai')],
      ['attemptDocument', directQueue('openai')],
    ]),
  );
});

test('so many documents are asked about at once as the rows allow', async () => {
  const { client, runs } = engine();
  let release: (value?: unknown) => void = () => undefined;
  runs.held = new Promise((resolve) => {
    release = resolve;
  });
  runs.add('run_lanes', { reviews: [attempt(3)], attempts: [AGAIN, AGAIN, AGAIN] });
  const handle = await client.workflow.start('documentRun', startOf('run_lanes'));
  await eventually(() => runs.callsOf('run_lanes').attempts === 3);
  release();
  runs.held = Promise.resolve();
  await handle.result();
  expect(runs.callsOf('run_lanes')).toMatchObject({ mostAtOnce: 3, attempts: 6 });
});

test.concurrent('a lane waits for what failed for the moment, and a signal ends any wait', async () => {
  const { client, runs } = engine();
  runs.add('run_waiting', {
    reviews: [WAIT, attempt(1), WAIT],
    attempts: [{ kind: 'wait', delayMs: 20 }, AGAIN, { kind: 'wait', delayMs: HOUR_MS }],
  });
  const handle = await client.workflow.start('documentRun', startOf('run_waiting'));
  const calls = runs.callsOf('run_waiting');
  await eventually(() => calls.reviews.length === 1);
  await handle.signal(runChangedSignal);
  await eventually(() => calls.attempts === 3);
  await handle.signal(runChangedSignal);
  await eventually(() => calls.reviews.length === 3);
  await handle.signal(runChangedSignal);
  await handle.result();
  expect(calls.attempts).toBe(3);
});

test.concurrent("Temporal's own cancel is told to the rows, once, and cuts no attempt off", async () => {
  const { client, runs } = engine();
  runs.add('run_cancelled', { reviews: [WAIT] });
  const handle = await client.workflow.start('documentRun', startOf('run_cancelled'));
  await eventually(() => runs.callsOf('run_cancelled').reviews.length === 1);
  await handle.cancel();
  await handle.result();
  expect(runs.callsOf('run_cancelled').reviews).toEqual([{ cancel: false }, { cancel: true }]);
  expect((await handle.describe()).status.name).toBe('COMPLETED');
});

test.concurrent('many documents are continued as new, with small histories', async () => {
  const { client, runs } = engine();
  runs.add('run_long', { reviews: Array(4).fill(attempt(2)), attempts: Array(16).fill(AGAIN) });
  const start = startOf('run_long', { maxHistoryEvents: 30 });
  await client.workflow.execute('documentRun', start);
  const events = await readEvents(client, start.workflowId);
  expect(events.length).toBeLessThan(80);
  expect(events[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId).not.toBe('');
});

test.concurrent('it is found by tenant, customer, model and state, and never by its content', async () => {
  const { client, runs } = engine();
  runs.add('run_found', {});
  const handle = await client.workflow.start('documentRun', startOf('run_found'));
  await handle.result();
  const { typedSearchAttributes, ...described } = await handle.describe();
  const { tenant, customer, model, status } = searchAttributes;
  const found = [tenant, customer, model, status].map((key) => typedSearchAttributes.get(key));
  expect(found).toEqual(['acme', 'cust_1', 'analysis', 'finished']);
  expect(await described.staticSummary()).toBe('acme · 3 documents · analysis · direct');
});

test.concurrent('a run that goes on is not started twice, and one that was terminated is', async () => {
  const { client, runs } = engine();
  const control = createDocumentRunControl(client);
  runs.add('run_swept', { reviews: [WAIT, WAIT] });
  expect(await control.start(runOf('run_swept'))).toBe(true);
  await eventually(() => runs.callsOf('run_swept').reviews.length === 1);
  expect(await control.start(runOf('run_swept'))).toBe(false);
  await client.workflow.getHandle(documentRunWorkflowId('run_swept')).terminate();
  expect(await control.start(runOf('run_swept'))).toBe(true);
  await eventually(() => runs.callsOf('run_swept').reviews.length === 2);
  await control.wake('run_swept');
  await client.workflow.result(documentRunWorkflowId('run_swept'));
  await control.wake('run_swept');
});
