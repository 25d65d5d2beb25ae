import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import type { Fault } from '../../simulators/faults.ts';
import { batchJobWorkflowId, providerBatchWorkflowId } from '../../workflows/ids.ts';
import { pollNowSignal } from '../../workflows/messages.ts';
import { eventually } from '../harness/eventually.ts';
import { type Caller, startGateway, type TestGateway } from '../harness/gateway.ts';
import { batchesOf, openai, prompts } from '../harness/provider-side.ts';
import { soundEnd } from '../harness/sound-end.ts';
import { type GatewayProcess, GatewayStack } from '../harness/stack.ts';
import { listVersions, readSources } from '../replay/versions.ts';
import { bundleSources } from '../replay/workflow-sources.ts';
import { type Event, readEvents } from '../workflows/read-history.ts';

const isShort = process.env['BATCHGATE_ACCEPTANCE'] === 'short';
const ITEMS = isShort ? 3 : 300;
const AN_HOUR_MS = 3_600_000;
/** What the compose file gives a worker between SIGTERM and SIGKILL. */
const DRAINED_WITHIN_MS = 30_000;
const PATIENT = { timeoutMs: 60_000 };

const STUCK = { stuck: { state: 'in_progress' as const, finished: 1 } };
const QUEUE_FULL = { status: 'failed' as const, errors: [{ code: 'token_limit_exceeded', message: 'queue is full' }] };

interface Stage {
  readonly name: string;
  /** Of its own for each stage: jobs of one model share a queue at the provider. */
  readonly model: string;
  /** Those that fire always are over once the workers have changed. */
  readonly faults: readonly Fault[];
  /** How the job shows that it is there. */
  readonly isThere: (jobId: string) => Promise<boolean>;
}

let gateway: TestGateway;
let stack: GatewayStack;
let folder: string;
let caller: Caller;
let old: GatewayProcess;
let fresh: GatewayProcess;
let drainedMs: number;
let howOldEnded: string;
const jobs = new Map<string, string>();

const STAGES: readonly Stage[] = [
  {
    name: 'waiting for capacity',
    model: 'gpt-4.1',
    faults: [openai('batches.create', { status: 429, headers: { 'retry-after': '120' } })],
    isThere: async (jobId) => (await caller.job(jobId)).waiting !== null,
  },
  {
    name: 'running',
    model: 'gpt-4o',
    faults: [openai('batches.create', STUCK)],
    isThere: async (jobId) => (await caller.job(jobId)).progress?.completed === 1,
  },
  {
    name: 'asking for a cancel',
    model: 'gpt-4o-mini',
    faults: [openai('batches.create', STUCK), openai('batches.cancel', { status: 500 }, { times: 'always' })],
    isThere: async (jobId) => {
      if ((await caller.job(jobId)).progress?.completed !== 1) return false;
      await caller.cancel(jobId);
      return true;
    },
  },
  {
    name: 'ingesting',
    model: 'gpt-5.4-mini',
    faults: [openai('files.content', { stall: { after_bytes: 100, ms: AN_HOUR_MS } })],
    isThere: () => isInFlight('files.content'),
  },
  {
    name: 'uploading',
    model: 'gpt-5.4',
    faults: [openai('files.create', { delay_ms: AN_HOUR_MS })],
    isThere: () => isInFlight('files.create'),
  },
  {
    name: 'looking for its batch',
    model: 'gpt-5.4-nano',
    faults: [
      openai('batches.create', { drop_after: true }),
      openai('batches.list', { status: 503 }, { times: 'always' }),
    ],
    isThere: async (jobId) => (await stateOfShard(jobId)) === 'creating',
  },
  {
    name: 'waiting for its next attempt',
    model: 'gpt-4.1-mini',
    faults: [openai('batches.create', { end_state: QUEUE_FULL }, { times: 'always' })],
    isThere: async (jobId) => (await caller.job(jobId)).waiting !== null,
  },
];

/** Jobs reach every stage on a worker with the oldest workflow code that is kept; today's takes over while it drains. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'batchgate-deploy-'));
  gateway = await startGateway({ workers: false });
  stack = GatewayStack.of(gateway, { BATCHGATE_CAPACITY_RETRY_MS: '1000', BATCHGATE_LISTING_LAG_MS: '1000' });
  caller = (await gateway.newTenant({ limit: '1000' })).caller;
  const [oldest = ''] = listVersions();
  const oldBundle = join(folder, 'workflows.js');
  await writeFile(oldBundle, (await bundleSources(readSources(oldest))).code);
  old = await stack.startWorker({ BATCHGATE_WORKFLOW_BUNDLE: oldBundle });
  for (const stage of STAGES) await bring(stage);
  fresh = await stack.startWorker({ BATCHGATE_WORKFLOW_BUNDLE: inject('workflowBundle') });
  const began = performance.now();
  old.signal('SIGTERM');
  howOldEnded = await old.ended();
  drainedMs = performance.now() - began;
  await gateway.simulator.clearFaults();
  await gateway.simulator.advance(AN_HOUR_MS);
  for (const name of ['running', 'asking for a cancel']) {
    for (const { id } of await batchesOf(gateway, jobNamed(name))) await gateway.simulator.batch(id, { stuck: null });
  }
  // One may have ended meanwhile.
  for (const jobId of jobs.values()) await pollNow(jobId).catch(() => undefined);
}, 300_000);

afterAll(async () => {
  await stack.stop();
  await gateway.stop();
  await rm(folder, { recursive: true, force: true });
}, 120_000);

async function bring({ name, model, faults, isThere }: Stage): Promise<void> {
  await gateway.simulator.faults(...faults);
  const jobId = await caller.submitPrompts(prompts(ITEMS), { model: `openai/${model}` });
  jobs.set(name, jobId);
  await eventually(() => isThere(jobId), PATIENT);
}

/** A batch that was made before the queue had room is still to be refused, and the wait after that grows with those before. */
async function untilThereIsRoom(jobId: string): Promise<void> {
  await eventually(async () => {
    const { waiting } = await caller.job(jobId);
    if (waiting?.reason !== 'provider_capacity') return true;
    await pollNow(jobId);
    return false;
  }, PATIENT);
}

/** Ends a wait for capacity, as an operator may. */
function pollNow(jobId: string): Promise<void> {
  return gateway.client.workflow.getHandle(providerBatchWorkflowId(jobId, 1)).signal(pollNowSignal);
}

function jobNamed(name: string): string {
  return jobs.get(name) ?? '';
}

async function stateOfShard(jobId: string): Promise<string | undefined> {
  const view = await gateway.operator.call<{ shards: { state: string }[] }>('GET', `/v1/operator/jobs/${jobId}`);
  return view.shards[0]?.state;
}

async function isInFlight(route: string): Promise<boolean> {
  const calls = await gateway.simulator.journal({ route });
  return calls.some((entry) => entry.fault && entry.ended_at === null);
}

async function eventsOf(jobId: string): Promise<Event[]> {
  const ids = [batchJobWorkflowId(jobId), providerBatchWorkflowId(jobId, 1)];
  return (await Promise.all(ids.map((id) => readEvents(gateway.client, id)))).flat();
}

test('a worker that was told to stop ends by itself in time, also with a download and an upload under way', async ({
  annotate,
}) => {
  await annotate(`drained in ${Math.round(drainedMs / 1_000)} s`);
  expect(howOldEnded).toBe('exit code 0');
  expect(drainedMs).toBeLessThan(DRAINED_WITHIN_MS);
});

test.each(STAGES)('a job that was $name ends on the new code', async ({ name }) => {
  await untilThereIsRoom(jobNamed(name));
  const { job } = await soundEnd(gateway, caller, jobNamed(name));
  expect(job).toMatchObject({ status: 'completed', counts: { completed: ITEMS } });
  const batches = await batchesOf(gateway, jobNamed(name));
  expect(batches.reduce((sum, { request_counts: counts }) => sum + counts.completed, 0)).toBe(ITEMS);
});

test.each(STAGES)(
  'both workers had their part in the job that was $name, and neither lost its way',
  async ({ name }) => {
    const events = await eventsOf(jobNamed(name));
    const failures = events.flatMap(({ workflowTaskFailedEventAttributes: failed }) => failed?.failure?.message ?? []);
    expect(failures.filter((message) => message !== 'UnhandledCommand')).toEqual([]);
    const workers = events.flatMap(({ workflowTaskCompletedEventAttributes: task }) => task?.identity ?? []);
    const pids = new Set(workers.map((identity) => Number.parseInt(identity, 10)));
    expect(pids).toContain(old.pid);
    expect(pids.size).toBe(2);
  },
);

test('a second SIGTERM ends a worker at once', async () => {
  await gateway.simulator.faults(openai('files.create', { delay_ms: AN_HOUR_MS }));
  await caller.submitPrompts(prompts(1), { model: 'openai/gpt-5.4' });
  await eventually(() => isInFlight('files.create'), PATIENT);
  fresh.signal('SIGTERM');
  await eventually(async () => (await fetch(`${fresh.url}/readyz`)).status === 503, PATIENT);
  fresh.signal('SIGTERM');
  expect(await fresh.ended()).toBe('signal SIGTERM');
});
