import { describe, expect, test } from 'vitest';
import type { SubmitResult } from '../../activities/interfaces.ts';
import { cancelSignal } from '../../workflows/messages.ts';
import { eventually } from '../harness/eventually.ts';
import type { FakeJob, JobScript } from './fake-job.ts';
import { useFakeEngine } from './use-fake-engine.ts';

const engine = useFakeEngine();

const MINUTE_MS = 60_000;
/** Several workflow tasks on a busy machine. */
const PATIENT = { timeoutMs: 40_000 };
const CAPACITY: SubmitResult = { kind: 'wait', reason: 'provider_capacity', delayMs: MINUTE_MS, giveUp: null };

type Handle = Awaited<ReturnType<ReturnType<typeof engine>['startJob']>>;

/** The api's road is the signal, too, with the wish in the row already. */
const ROADS: readonly (readonly [string, string, (handle: Handle) => Promise<unknown>])[] = [
  ['a signal', 'ops', (handle) => handle.signal(cancelSignal, { by: 'ops' })],
  ["Temporal's own cancel", 'temporal', (handle) => handle.cancel()],
];

interface Stage {
  readonly stage: string;
  readonly script?: JobScript;
  /** Held until the cancel was sent. */
  readonly held?: string;
  readonly reached: (job: FakeJob) => boolean;
  /** How the shard ends; null where it was never begun. */
  readonly closed: string | null;
  readonly cancelsAtProvider: number;
}

const called = (name: string) => (job: FakeJob) => job.called(name).length > 0;

const STAGES: readonly Stage[] = [
  { stage: 'planned', held: 'planShards', reached: called('planShards'), closed: 'cancelled', cancelsAtProvider: 0 },
  {
    stage: 'waiting for capacity',
    script: { submit: [CAPACITY] },
    reached: (job) => job.shard(1).state === 'waiting',
    closed: 'cancelled',
    cancelsAtProvider: 0,
  },
  {
    stage: 'uploading',
    held: 'submitAttempt',
    reached: called('submitAttempt'),
    closed: 'cancelled',
    cancelsAtProvider: 0,
  },
  {
    stage: 'waiting for an unanswered create',
    script: { submit: [{ kind: 'unknown', lookAfterMs: 300 }] },
    reached: (job) => job.shard(1).state === 'creating',
    closed: 'batch_cancelled',
    cancelsAtProvider: 1,
  },
  {
    stage: 'running',
    script: { pollDelayMs: MINUTE_MS },
    reached: (job) => job.shard(1).state === 'running',
    closed: 'batch_cancelled',
    cancelsAtProvider: 1,
  },
];

describe.each(ROADS)('by %s', (_road, by, cancel) => {
  test.concurrent.each(STAGES)('a job that is $stage is cancelled', async (scene) => {
    const job = engine().addJob(scene.script);
    job.batchesOpen = true;
    const hold = scene.held === undefined ? null : job.hold(scene.held);
    const handle = await engine().startJob(job);
    await eventually(() => scene.reached(job), PATIENT);
    await cancel(handle);
    await cancel(handle);
    if (scene.held === 'planShards') hold?.release();
    expect(await handle.result()).toEqual({ state: 'cancelled' });
    expect(job.shard(1).closed).toBe(scene.closed);
    expect(job.called('cancelAttempt')).toHaveLength(scene.cancelsAtProvider);
    expect(job.called('submitAttempt').length).toBeLessThanOrEqual(1);
    expect(job.called('recordCancel').map((call) => call['by'])).toEqual([by]);
  });

  test.concurrent('a job whose results are coming in keeps them all, and nothing is cancelled at the provider', async () => {
    const job = engine().addJob();
    const ingest = job.hold('ingestAttempt', { heedsCancel: false });
    const handle = await engine().startJob(job);
    await eventually(() => called('ingestAttempt')(job), PATIENT);
    await cancel(handle);
    ingest.release();
    await handle.result();
    expect(job.shard(1).closed).toBe('batch_completed');
    expect(job.called('ingestAttempt')).toHaveLength(1);
    expect(job.called('cancelAttempt')).toEqual([]);
  });

  test.concurrent('a job that is being reconciled ends by its truth', async () => {
    const job = engine().addJob();
    const reconcile = job.hold('reconcileJob', { heedsCancel: false, after: true });
    const handle = await engine().startJob(job);
    await eventually(() => job.ended !== null, PATIENT);
    await cancel(handle);
    reconcile.release();
    expect(await handle.result()).toEqual({ state: 'completed' });
    expect(job.called('cancelAttempt')).toEqual([]);
  });
});
