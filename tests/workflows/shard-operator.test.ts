import { expect, test } from 'vitest';
import type { SubmitResult } from '../../activities/interfaces.ts';
import { pollNowSignal, providerBatchStateQuery, rowsChangedSignal } from '../../workflows/messages.ts';
import { eventually } from '../harness/eventually.ts';
import type { FakeJob, JobScript } from './fake-job.ts';
import { useFakeEngine } from './use-fake-engine.ts';

const engine = useFakeEngine();

const MINUTE_MS = 60_000;
const COUNTS = { settled: 0, remaining: 10, unmatched: 0 };

function waitFor(reason: Extract<SubmitResult, { kind: 'wait' }>['reason']): SubmitResult {
  return { kind: 'wait', reason, delayMs: MINUTE_MS, giveUp: null };
}

interface Wait {
  readonly script: JobScript;
  /** What the shard does again once it is woken. */
  readonly again: string;
  readonly batchesOpen?: boolean;
}

const WAITS: { readonly [what: string]: Wait } = {
  'room in the queue': { script: { submit: [waitFor('provider_capacity')] }, again: 'submitAttempt' },
  'its turn to create': { script: { submit: [waitFor('submission_turn')] }, again: 'submitAttempt' },
  'a rate limit': { script: { submit: [waitFor('provider_rate_limit')] }, again: 'submitAttempt' },
  'a provider in trouble': { script: { submit: [waitFor('provider_trouble')] }, again: 'submitAttempt' },
  'a good credential': { script: { submit: [waitFor('credential_refused')] }, again: 'submitAttempt' },
  'one of several candidates': {
    script: {
      submit: [{ kind: 'unknown', lookAfterMs: 5 }],
      resolve: [{ kind: 'indeterminate', candidates: 2, delayMs: MINUTE_MS }],
    },
    again: 'resolveAttempt',
  },
  'the next poll': { script: { pollDelayMs: MINUTE_MS }, again: 'pollAttempt', batchesOpen: true },
  'results on their way': {
    script: { ingest: [{ ...COUNTS, next: 'again', delayMs: MINUTE_MS }] },
    again: 'ingestAttempt',
  },
  'results that cannot be read': {
    script: { ingest: [{ ...COUNTS, next: 'retry', delayMs: MINUTE_MS, waiting: 'provider_trouble' }] },
    again: 'ingestAttempt',
  },
  'a new batch after a full queue': {
    script: { ingest: [{ ...COUNTS, next: 'resubmit', delayMs: MINUTE_MS, waiting: 'provider_capacity' }] },
    again: 'submitAttempt',
  },
};

/** A shard that waits for a minute, the activity it does next called this often so far. */
async function startWaiting({ script, again, batchesOpen = false }: Wait) {
  const job = engine().addJob(script);
  job.batchesOpen = batchesOpen;
  const handle = await engine().startShard(job);
  await eventually(async () => (await handle.query(providerBatchStateQuery)).nextPollAt !== null);
  await eventually(() => job.called(again).length > 0);
  return { job, handle, before: job.called(again).length };
}

function giveUp(job: FakeJob): void {
  job.shard(1).givenUp = true;
}

test.concurrent.each(Object.keys(WAITS))('poll now ends the wait for %s', async (what) => {
  const wait = WAITS[what] as Wait;
  const { job, handle, before } = await startWaiting(wait);
  job.batchesOpen = false;
  await handle.signal(pollNowSignal);
  await eventually(() => job.called(wait.again).length > before);
  await handle.result();
  expect(job.shard(1).closed).toBe('batch_completed');
});

test.concurrent.each(Object.keys(WAITS))('a shard that is given up no longer waits for %s', async (what) => {
  const wait = WAITS[what] as Wait;
  const { job, handle, before } = await startWaiting(wait);
  giveUp(job);
  await handle.signal(rowsChangedSignal);
  await handle.result();
  expect(job.called(wait.again)).toHaveLength(before);
  expect(job.calls.slice(-3).map(({ name }) => name)).toEqual(['nextStep', 'abandonBatch', 'closeShard']);
  expect(job.shard(1).closed).toBe('given_up');
});

test.concurrent.each(['submitAttempt', 'pollAttempt', 'ingestAttempt', 'resolveAttempt'])(
  'nor for %s, however long that hangs',
  async (activity) => {
    const isResolved = activity === 'resolveAttempt';
    const job = engine().addJob(isResolved ? { submit: [{ kind: 'unknown', lookAfterMs: 5 }] } : {});
    job.hold(activity);
    const handle = await engine().startShard(job);
    await eventually(() => job.called(activity).length === 1);
    giveUp(job);
    await handle.signal(rowsChangedSignal);
    await handle.result();
    expect(job.shard(1).closed).toBe('given_up');
    expect(job.called(activity)).toHaveLength(1);
  },
);

test.concurrent('a create that may be on its way is waited for until its deadline before the shard is given up', async () => {
  const job = engine().addJob({ submit: [{ kind: 'unknown', lookAfterMs: 700 }] });
  const handle = await engine().startShard(job);
  await eventually(() => job.shard(1).state === 'creating');
  const unansweredAt = performance.now();
  giveUp(job);
  await handle.signal(rowsChangedSignal);
  await handle.result();
  expect(performance.now() - unansweredAt).toBeGreaterThan(500);
  expect(job.shard(1).closed).toBe('given_up');
});

test.concurrent('a mark whose signal was lost is found by the next poll', async () => {
  const { job, handle } = await startWaiting(WAITS['the next poll'] as Wait);
  giveUp(job);
  await handle.signal(pollNowSignal);
  await handle.result();
  expect(job.shard(1).closed).toBe('given_up');
});

test.concurrent('a provider that does not take the cancel of a shard given up holds it no longer', async () => {
  const { job, handle } = await startWaiting(WAITS['the next poll'] as Wait);
  job.shard(1).abandonFails = 5;
  giveUp(job);
  await handle.signal(rowsChangedSignal);
  await handle.result();
  expect(job.called('abandonBatch')).toHaveLength(2);
  expect(job.shard(1).closed).toBe('given_up');
});

test.concurrent('a batch that is lost and may still run is cancelled on the way out', async () => {
  const job = engine().addJob({ poll: [{ kind: 'lost', mayRun: true }] });
  await (await engine().startShard(job)).result();
  expect(job.called('abandonBatch')).toHaveLength(1);
  expect(job.shard(1).closed).toBe('lost');
});

test.concurrent('a batch that is followed no longer for its credential says so', async () => {
  const job = engine().addJob({ poll: [{ kind: 'lost', close: 'credential_refused' }] });
  await (await engine().startShard(job)).result();
  expect(job.shard(1).closed).toBe('credential_refused');
});

test.concurrent('reading results anew begins from the first reading, whatever was waited for', async () => {
  const { job, handle } = await startWaiting(WAITS['results on their way'] as Wait);
  await handle.signal(rowsChangedSignal);
  await handle.result();
  expect(job.called('ingestAttempt').map(({ reading }) => reading)).toEqual([1, 1]);
  expect(job.called('pollAttempt')).toHaveLength(2);
});

test.concurrent('a reading that failed is no reading', async () => {
  const job = engine().addJob({ ingest: [{ ...COUNTS, next: 'retry', delayMs: 5, waiting: 'provider_trouble' }] });
  await (await engine().startShard(job)).result();
  expect(job.called('ingestAttempt').map(({ reading }) => reading)).toEqual([1, 1]);
});

test.concurrent('results of a settled shard are read once more when asked for, and nothing else is done', async () => {
  const job = engine().addJob();
  job.shard(1).close('batch_completed');
  job.shard(1).rereadRequested = true;
  await (await engine().startShard(job)).result();
  expect(job.calls.map(({ name }) => name)).toEqual(['nextStep', 'rereadResults', 'nextStep']);
});

test.concurrent('a wish that comes while the shard is about to end is heard', async () => {
  const job = engine().addJob();
  job.shard(1).close('batch_completed');
  const lastRead = job.hold('nextStep', { after: true });
  const handle = await engine().startShard(job);
  await eventually(() => job.called('nextStep').length === 1);
  job.shard(1).rereadRequested = true;
  await handle.signal(rowsChangedSignal);
  lastRead.release();
  await handle.result();
  expect(job.calls.map(({ name }) => name)).toEqual(['nextStep', 'nextStep', 'rereadResults', 'nextStep']);
});

test.concurrent('a batch chosen by hand is adopted at once, and no second one is made', async () => {
  const { job, handle } = await startWaiting(WAITS['one of several candidates'] as Wait);
  job.shard(1).chosen = true;
  await handle.signal(rowsChangedSignal);
  await handle.result();
  expect(job.called('submitAttempt')).toHaveLength(1);
  expect(job.shard(1).closed).toBe('batch_completed');
});
