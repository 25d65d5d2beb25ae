import { expect, test } from 'vitest';
import { cancelSignal, pollNowSignal, providerBatchStateQuery } from '../../workflows/messages.ts';
import { eventually } from '../harness/eventually.ts';
import { readRuns } from './read-history.ts';
import { useFakeEngine } from './use-fake-engine.ts';

const engine = useFakeEngine();

const MINUTE_MS = 60_000;

test.concurrent('the pace is told how many polls brought no change', async () => {
  const job = engine().addJob({
    poll: [
      { nativeStatus: 'validating' },
      { nativeStatus: 'validating' },
      { nativeStatus: 'validating' },
      { nativeStatus: 'in_progress' },
      { nativeStatus: 'in_progress' },
    ],
  });
  await (await engine().startShard(job)).result();
  expect(job.called('pollAttempt').map((call) => call['pollsWithoutChange'])).toEqual([0, 0, 1, 2, 0, 1]);
});

test.concurrent('the state query tells the attempt, the native status, the polls and the next one', async () => {
  const job = engine().addJob({ pollDelayMs: MINUTE_MS });
  job.batchesOpen = true;
  const handle = await engine().startShard(job);
  await eventually(async () => (await handle.query(providerBatchStateQuery)).nextPollAt !== null);
  expect(await handle.query(providerBatchStateQuery)).toEqual({
    v: 1,
    jobId: job.jobId,
    shard: 1,
    attempt: 1,
    stage: 'in_progress',
    nativeStatus: 'in_progress',
    polls: 1,
    nextPollAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    cancelRequested: false,
    deadlinePassed: false,
  });
  job.batchesOpen = false;
  await handle.signal(pollNowSignal);
  await handle.result();
});

test.concurrent('a poll asked for while another is on its way is made right after it', async () => {
  const job = engine().addJob({ pollDelayMs: MINUTE_MS });
  job.batchesOpen = true;
  const poll = job.hold('pollAttempt');
  const handle = await engine().startShard(job);
  await eventually(() => job.called('pollAttempt').length === 1);
  await handle.signal(pollNowSignal);
  poll.release();
  await eventually(() => job.called('pollAttempt').length === 2);
  job.batchesOpen = false;
  await handle.signal(pollNowSignal);
  await handle.result();
});

test.concurrent.each([
  ['the signal', 'signal'],
  ["Temporal's own cancel", 'cancel'],
] as const)('%s wakes a shard between two polls at once, and the batch is polled to its end', async (_what, how) => {
  const job = engine().addJob({ pollDelayMs: MINUTE_MS });
  job.batchesOpen = true;
  const handle = await engine().startShard(job);
  await eventually(async () => (await handle.query(providerBatchStateQuery)).nextPollAt !== null);
  job.cancel = { by: 'alice', reason: null };
  await (how === 'signal' ? handle.signal(cancelSignal) : handle.cancel());
  await handle.result();
  expect(job.calls.slice(4).map(({ name }) => name)).toEqual([
    'pollAttempt',
    'cancelAttempt',
    'pollAttempt',
    'ingestAttempt',
    'closeShard',
  ]);
  expect(job.shard(1).closed).toBe('batch_cancelled');
  expect((await handle.describe()).status.name).toBe('COMPLETED');
});

test.concurrent('a cancel that the provider does not take is asked for again after 1, 2, 4 and 8 polls', async () => {
  const job = engine().addJob({ cancel: [false, false, false, true] });
  job.batchesOpen = true;
  job.cancel = { by: 'alice', reason: null };
  job.shard(1).accept();
  await (await engine().startShard(job)).result();
  let polls = 0;
  const askedAfter: number[] = [];
  for (const { name } of job.calls) {
    if (name === 'pollAttempt') polls += 1;
    if (name === 'cancelAttempt') askedAfter.push(polls);
  }
  expect(askedAfter).toEqual([1, 2, 4, 8]);
});

test.concurrent('a batch that the provider has lost closes the shard, without a download', async () => {
  const job = engine().addJob({ poll: [{ kind: 'open' }, { kind: 'lost' }] });
  await (await engine().startShard(job)).result();
  expect(job.shard(1).closed).toBe('lost');
  expect(job.called('ingestAttempt')).toEqual([]);
});

test.concurrent('results that may still be on their way are read again', async () => {
  const counts = { settled: 5, remaining: 5, unmatched: 0 };
  const job = engine().addJob({ ingest: [{ ...counts, next: 'again', delayMs: 20 }] });
  await (await engine().startShard(job)).result();
  expect(job.called('ingestAttempt').map(({ reading }) => reading)).toEqual([1, 2]);
  expect(job.shard(1).closed).toBe('batch_completed');
});

test.concurrent('a batch refused after its creation is sent again as a new attempt, which starts with a fresh pace', async () => {
  const counts = { settled: 0, remaining: 10, unmatched: 0 };
  const job = engine().addJob({
    poll: [
      { nativeStatus: 'validating' },
      { nativeStatus: 'validating' },
      { kind: 'ended', nativeStatus: 'validating' },
    ],
    ingest: [{ ...counts, next: 'resubmit', delayMs: 20, waiting: 'provider_capacity' }],
  });
  await (await engine().startShard(job)).result();
  expect(job.called('submitAttempt').map(({ attempt }) => attempt)).toEqual([1, 2]);
  expect(job.called('pollAttempt').map((call) => [call['attempt'], call['pollsWithoutChange']])).toEqual([
    [1, 0],
    [1, 0],
    [1, 1],
    [2, 0],
  ]);
  expect(job.shard(1).closed).toBe('batch_completed');
});

test.concurrent('a shard that waits to be sent again is cancelled at once', async () => {
  const counts = { settled: 0, remaining: 10, unmatched: 0 };
  const job = engine().addJob({
    ingest: [{ ...counts, next: 'resubmit', delayMs: MINUTE_MS, waiting: 'provider_capacity' }],
  });
  const handle = await engine().startShard(job);
  await eventually(async () => (await handle.query(providerBatchStateQuery)).stage === 'waiting for provider capacity');
  job.cancel = { by: 'alice', reason: null };
  await handle.signal(cancelSignal);
  await handle.result();
  expect(job.shard(1).closed).toBe('cancelled');
  expect(job.called('submitAttempt')).toHaveLength(1);
});

test.concurrent('counts of polls go on from run to run, and a refused cancel is not asked for more often', async () => {
  const job = engine().addJob({ poll: Array(11).fill({}), cancel: Array(5).fill(false) });
  job.shard(1).accept();
  job.cancel = { by: 'alice', reason: null };
  const handle = await engine().startShard(job, { maxHistoryEvents: 60, polls: 7 });
  await handle.result();
  const runs = await readRuns(engine().client, handle.workflowId, handle.firstExecutionRunId);
  expect(runs.length).toBeGreaterThan(1);
  const last = engine().client.workflow.getHandle(handle.workflowId);
  expect(await last.query(providerBatchStateQuery)).toMatchObject({ polls: 7 + 12 });
  expect(job.called('cancelAttempt')).toHaveLength(4);
  expect(job.called('pollAttempt').map((call) => call['pollsWithoutChange'])).toEqual([
    0, 0, 0, 1, 0, 1, 2, 3, 0, 1, 2, 3,
  ]);
});
