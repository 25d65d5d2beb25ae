import type { WorkflowHandle } from '@temporalio/client';
import { expect, test } from 'vitest';
import { providerBatchWorkflowId } from '../../workflows/ids.ts';
import { cancelSignal, pollNowSignal } from '../../workflows/messages.ts';
import { searchAttributes } from '../../workflows/search-attributes.ts';
import { eventually } from '../harness/eventually.ts';
import { SUBMITTED_AT } from './fake-engine.ts';
import type { FakeJob } from './fake-job.ts';
import { type Event, readCurrentDetails, readEvents, summaryOf } from './read-history.ts';
import { useFakeEngine } from './use-fake-engine.ts';

const engine = useFakeEngine();

const MINUTE_MS = 60_000;
/** Several workflow tasks on a busy machine. */
const PATIENT = { timeoutMs: 30_000 };

async function attributesOf(handle: Pick<WorkflowHandle, 'describe'>): Promise<Record<string, unknown>> {
  const { typedSearchAttributes } = await handle.describe();
  return Object.fromEntries(
    Object.entries(searchAttributes).map(([name, key]) => [name, typedSearchAttributes.get(key)]),
  );
}

function withoutSummary(events: readonly Event[]): (string | null | undefined)[] {
  return events
    .filter((event) => event.activityTaskScheduledEventAttributes ?? event.timerStartedEventAttributes)
    .filter((event) => summaryOf(event) === null)
    .map(
      (event) =>
        event.activityTaskScheduledEventAttributes?.activityType?.name ?? event.timerStartedEventAttributes?.timerId,
    );
}

async function startWaiting(job: FakeJob) {
  job.batchesOpen = true;
  const handle = await engine().startJob(job);
  await eventually(() => job.shards.every(({ state }) => state === 'running'), PATIENT);
  const shard = engine().client.workflow.getHandle(providerBatchWorkflowId(job.jobId, 1));
  await eventually(async () => (await readCurrentDetails(shard)).startsWith('**in_progress**'), PATIENT);
  return { handle, shard };
}

test.concurrent('a job and its shards can be found by tenant, customer, provider, model and status', async () => {
  const job = engine().addJob({ pollDelayMs: MINUTE_MS });
  const { handle, shard } = await startWaiting(job);
  const submitted = SUBMITTED_AT.toISOString();
  const whose = { tenant: 'acme', customer: 'cust_1', provider: 'openai', submitted };
  await eventually(async () => (await attributesOf(handle))['status'] === 'running');
  expect(await attributesOf(handle)).toEqual({ ...whose, model: 'analysis', status: 'running' });
  expect(await attributesOf(shard)).toEqual({ ...whose, model: 'gpt-4.1-mini', status: 'running' });
  job.batchesOpen = false;
  await handle.signal(pollNowSignal);
  await handle.result();
  expect(await attributesOf(handle)).toEqual({ ...whose, model: 'analysis', status: 'completed' });
  expect(await attributesOf(shard)).toEqual({ ...whose, model: 'gpt-4.1-mini', status: 'settled' });
});

test.concurrent('a query answers for the running jobs of a tenant at a provider that are older than some hours', async () => {
  const job = engine().addJob({ pollDelayMs: MINUTE_MS });
  const { handle, shard } = await startWaiting(job);
  const olderThan = async (type: string, at: Date): Promise<string[]> => {
    const found: string[] = [];
    const query = [
      `WorkflowType = '${type}' AND ExecutionStatus = 'Running' AND BatchgateTenant = 'acme'`,
      `BatchgateProvider = 'openai' AND BatchgateSubmittedAt < '${at.toISOString()}'`,
    ].join(' AND ');
    for await (const { workflowId } of engine().client.workflow.list({ query })) found.push(workflowId);
    return found;
  };
  const after = new Date(SUBMITTED_AT.getTime() + 1);
  await eventually(async () => (await olderThan('batchJob', after)).includes(handle.workflowId), PATIENT);
  await eventually(async () => (await olderThan('providerBatch', after)).includes(shard.workflowId), PATIENT);
  expect(await olderThan('batchJob', SUBMITTED_AT)).toEqual([]);
  await handle.terminate();
  await shard.terminate();
});

test.concurrent('each workflow says in one line what it is', async () => {
  const job = engine().addJob({ pollDelayMs: MINUTE_MS });
  const { handle, shard } = await startWaiting(job);
  expect(await (await handle.describe()).staticSummary()).toBe('acme · 10 items · analysis');
  expect(await (await shard.describe()).staticSummary()).toBe('openai/gpt-4.1-mini · shard 1 · 10 items');
  await handle.terminate();
  await shard.terminate();
});

test.concurrent('current details tell where a job and a shard stand, and when the shard polls next', async () => {
  const job = engine().addJob({ pollDelayMs: MINUTE_MS });
  const { handle, shard } = await startWaiting(job);
  await eventually(async () => (await readCurrentDetails(handle)).includes('| status | running |'));
  expect((await readCurrentDetails(handle)).split('\n')).toEqual([
    '**running**',
    '',
    '| where it stands now | |',
    '| --- | --- |',
    `| job | ${job.jobId} |`,
    '| tenant | acme |',
    '| model | analysis |',
    '| status | running |',
    '| shards settled | 0 of 1 |',
    '| cancel requested | no |',
  ]);
  expect((await readCurrentDetails(shard)).split('\n')).toEqual([
    '**in_progress**',
    '',
    '| where it stands now | |',
    '| --- | --- |',
    `| job | ${job.jobId} |`,
    '| shard | 1, attempt 1 |',
    '| target | openai/gpt-4.1-mini |',
    '| native status | in_progress |',
    '| polls | 1 |',
    expect.stringMatching(/^\| next step at \| \d{4}-\d\d-\d\dT[\d:.]+Z \|$/),
    '| cancel requested | no |',
  ]);
  job.batchesOpen = false;
  await handle.signal(cancelSignal);
  await handle.result();
  expect(await readCurrentDetails(handle)).toMatch(/^\*\*ended\*\*[\s\S]*\| cancel requested \| yes \|$/);
  expect(await readCurrentDetails(shard)).toMatch(/^\*\*settled\*\*/);
});

test.concurrent('every timer and every activity has a summary, and a timer says what follows it', async () => {
  const job = engine().addJob({
    submit: [
      { kind: 'wait', reason: 'provider_capacity', delayMs: 20, giveUp: null },
      { kind: 'unknown', lookAfterMs: 20 },
    ],
    resolve: [
      { kind: 'look_again', delayMs: 20 },
      { kind: 'indeterminate', candidates: 2, delayMs: 20 },
    ],
    poll: [{}],
    ingest: [{ settled: 5, remaining: 5, unmatched: 0, next: 'again', delayMs: 20 }],
    cancel: [false],
    pollDelayMs: MINUTE_MS,
  });
  const { handle } = await startWaiting(job);
  await handle.signal(cancelSignal);
  await handle.result();
  const own = await readEvents(engine().client, handle.workflowId);
  const shard = await readEvents(engine().client, providerBatchWorkflowId(job.jobId, 1));
  expect(withoutSummary([...own, ...shard])).toEqual([]);
  const timers = shard.filter((event) => event.timerStartedEventAttributes).map(summaryOf);
  expect([...new Set(timers)]).toEqual(
    expect.arrayContaining([
      'waiting for provider capacity; submit again',
      'let the create deadline pass before looking for the batch',
      'look for the batch again',
      'in_progress; then poll 2',
      '5 items without a result; download once more',
    ]),
  );
});

test.concurrent('every message a person may send is described', async () => {
  const job = engine().addJob({ pollDelayMs: MINUTE_MS });
  const { handle, shard } = await startWaiting(job);
  for (const [workflow, names] of [
    [handle, ['admit', 'cancel', 'pollNow', 'shardChanged', 'state']],
    [shard, ['cancel', 'pollNow', 'rowsChanged', 'state']],
  ] as const) {
    const { definition } = await workflow.query<Metadata, []>('__temporal_workflow_metadata');
    const { updateDefinitions, signalDefinitions, queryDefinitions } = definition;
    const all = [...(updateDefinitions ?? []), ...(signalDefinitions ?? []), ...(queryDefinitions ?? [])];
    const own = all.filter(({ name }) => !name.startsWith('__'));
    expect(own.map(({ name }) => name).toSorted()).toEqual(names);
    expect(own.filter(({ description }) => !description)).toEqual([]);
  }
  await handle.terminate();
  await shard.terminate();
});

/** Of the answer to Temporal's own metadata query. */
interface Metadata {
  readonly definition: {
    readonly [kind in 'updateDefinitions' | 'signalDefinitions' | 'queryDefinitions']?: readonly {
      readonly name: string;
      readonly description?: string;
    }[];
  };
}
