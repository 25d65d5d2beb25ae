import { readFile } from 'node:fs/promises';
import { beforeAll, expect, inject, test } from 'vitest';
import { replayOpen } from '../../worker/replay-open.ts';
import { pollNowSignal } from '../../workflows/messages.ts';
import { eventually } from '../harness/eventually.ts';
import { createNamespace } from '../harness/namespace.ts';
import { listVersions, readSources } from '../replay/versions.ts';
import { bundleSources, readBundledSources } from '../replay/workflow-sources.ts';
import { type FakeEngine, startFakeEngine } from './fake-engine.ts';
import type { FakeJob, JobScript } from './fake-job.ts';
import { type Event, readEvents } from './read-history.ts';

type Bundle = { readonly code: string };
type Handle = Awaited<ReturnType<FakeEngine['startJob']>>;

const MINUTE_MS = 60_000;
const PATIENT = { timeoutMs: 60_000 };
/** A dozen jobs on two or three bundles, on a busy machine. */
const LONG = { timeout: 240_000 };

/** Where a job may be when the workers change: what it is started with, and what it is held at. */
const STAGES: readonly { name: string; script: JobScript; held?: string; open?: boolean }[] = [
  { name: 'validating', script: {}, held: 'admitJob' },
  { name: 'planning', script: {}, held: 'planShards' },
  {
    name: 'waiting for capacity',
    script: { submit: [{ kind: 'wait', reason: 'provider_capacity', delayMs: 1_500, giveUp: null }] },
    held: 'submitAttempt',
  },
  { name: 'uploading', script: { shards: 2 }, held: 'submitAttempt' },
  { name: 'looking for its batch', script: { submit: [{ kind: 'unknown', lookAfterMs: 20 }] }, held: 'resolveAttempt' },
  { name: 'running', script: { pollDelayMs: MINUTE_MS, shards: 2 }, open: true },
  { name: 'ingesting', script: {}, held: 'ingestAttempt' },
  {
    name: 'waiting for its next attempt',
    script: {
      poll: [{ kind: 'ended', end: 'failed', nativeStatus: 'failed' }],
      ingest: [{ settled: 0, remaining: 10, unmatched: 0, next: 'resubmit', delayMs: 1_500, waiting: null }],
    },
    held: 'ingestAttempt',
  },
  { name: 'settling', script: {}, held: 'closeShard' },
  { name: 'reconciling', script: {}, held: 'reconcileJob' },
];

let today: Bundle;
/** Today's code with one step more, behind a patch. */
let patched: Bundle;
beforeAll(async () => {
  today = { code: await readFile(inject('workflowBundle'), 'utf8') };
  const name = 'workflows/batch-job.ts';
  const sources = new Map(readBundledSources(today.code));
  const planted = `${sources.get(name)}`
    .replace('await run.plan();', "if (patched('planted')) await sleep(1);\n    await run.plan();")
    .replace("from '@temporalio/workflow'", ", patched, sleep } from '@temporalio/workflow'")
    .replace(/\}\s*, patched/, ', patched');
  expect(planted).toContain("patched('planted')");
  patched = await bundleSources(sources.set(name, planted));
});

interface Held {
  readonly stage: string;
  readonly job: FakeJob;
  readonly handle: Handle;
  readonly goOn: () => Promise<void>;
}

/** A job in each stage, all at once, on an engine of its own. */
async function withJobsInEveryStage(
  before: Bundle,
  changeWorkers: (engine: FakeEngine, jobs: readonly Held[]) => Promise<void>,
): Promise<{ engine: FakeEngine; jobs: readonly Held[] }> {
  const address = inject('temporalAddress');
  const namespace = await createNamespace(address);
  const engine = await startFakeEngine({
    address,
    namespace,
    workflowBundle: before,
    identity: 'before',
    stickyTimeoutMs: 500,
  });
  try {
    const jobs = await Promise.all(STAGES.map((stage) => holdAt(engine, stage)));
    await changeWorkers(engine, jobs);
    return { engine, jobs };
  } finally {
    await engine.stop();
  }
}

async function holdAt(engine: FakeEngine, { name, script, held, open }: (typeof STAGES)[number]): Promise<Held> {
  const job = engine.addJob(script);
  job.batchesOpen = open ?? false;
  const gate = job.hold(held ?? 'none');
  const handle = await engine.startJob(job);
  await eventually(
    () => (held === undefined ? job.shards.every(({ state }) => state === 'running') : job.called(held).length > 0),
    PATIENT,
  );
  return {
    stage: name,
    job,
    handle,
    goOn: async () => {
      gate.release();
      job.batchesOpen = false;
      if (open) await engine.client.workflow.getHandle(handle.workflowId).signal(pollNowSignal);
    },
  };
}

async function eventsOf(engine: FakeEngine, { job, handle }: Held): Promise<Event[]> {
  const shards = job.shards.map(({ shard }) => `provider-batch/${job.jobId}/${shard}`);
  const all = await Promise.all(
    [handle.workflowId, ...shards].map((id) => readEvents(engine.client, id).catch(() => [])),
  );
  return all.flat();
}

/** A signal that arrives while a run is ending makes the server ask once more, which is no failure. */
function taskFailures(events: readonly Event[]): string[] {
  return events
    .flatMap(({ workflowTaskFailedEventAttributes: failed }) =>
      failed?.failure?.message ? [failed.failure.message] : [],
    )
    .filter((message) => message !== 'UnhandledCommand');
}

/** Who completed workflow tasks of the job. */
function workersOf(events: readonly Event[]): Set<string> {
  return new Set(
    events.flatMap(({ workflowTaskCompletedEventAttributes: task }) => (task?.identity ? [task.identity] : [])),
  );
}

async function expectAllEndSoundly(engine: FakeEngine, jobs: readonly Held[]): Promise<void> {
  await Promise.all(jobs.map(({ goOn }) => goOn()));
  for (const held of jobs) {
    expect([held.stage, await held.handle.result()]).toEqual([held.stage, { state: 'completed' }]);
    expect(held.job.called('submitAttempt').length).toBeGreaterThan(0);
    const events = await eventsOf(engine, held);
    expect([held.stage, taskFailures(events)]).toEqual([held.stage, []]);
    expect([held.stage, workersOf(events)]).toEqual([held.stage, new Set(['before', 'after'])]);
  }
}

test('jobs begun on any version before end on the code of today, wherever the change meets them', LONG, async () => {
  for (const version of listVersions()) {
    const before = await bundleSources(readSources(version));
    await withJobsInEveryStage(before, async (engine, jobs) => {
      expect((await replayOpen(engine.client, today)).broken).toEqual([]);
      await engine.deploy(today, 'after');
      await expectAllEndSoundly(engine, jobs);
    });
  }
});

test('jobs end on code with another step for jobs to come, which they leave out by its patch', LONG, async () => {
  await withJobsInEveryStage(today, async (engine, jobs) => {
    await engine.deploy(patched, 'after');
    await expectAllEndSoundly(engine, jobs);
  });
});

test(
  'code that is taken back leaves the jobs that took its new step standing, and a terminate brings them home',
  LONG,
  async () => {
    await withJobsInEveryStage(patched, async (engine, jobs) => {
      const standing = jobs.filter(tookStep).map(({ handle }) => handle.workflowId);
      const foretold = await eventually(async () => {
        const { runs, broken } = await replayOpen(engine.client, today);
        return runs > jobs.length ? broken.map((line) => line.split(':')[0]) : null;
      }, PATIENT);
      expect(foretold.toSorted()).toEqual(standing.toSorted());
      await engine.deploy(today, 'after');
      await Promise.all(jobs.map(({ goOn }) => goOn()));
      await Promise.all(jobs.map((held) => bringHome(engine, held)));
    });
  },
);

/** The step comes once the job is admitted. */
function tookStep({ stage }: Held): boolean {
  return stage !== 'validating';
}

async function bringHome(engine: FakeEngine, held: Held): Promise<void> {
  const { stage, job, handle, goOn } = held;
  if (tookStep(held)) {
    const stands = async () => taskFailures(await readEvents(engine.client, handle.workflowId)).length > 0;
    await eventually(stands, PATIENT);
    await handle.terminate('taken back');
    await engine.startJob(job, { recover: true });
    await goOn();
  }
  expect([stage, await engine.client.workflow.result(handle.workflowId)]).toEqual([stage, { state: 'completed' }]);
  const attempts = job.called('submitAttempt').map(({ shard, attempt }) => `${shard}/${attempt}`);
  expect([stage, attempts.length]).toEqual([stage, stage === 'waiting for capacity' ? 2 : new Set(attempts).size]);
}
