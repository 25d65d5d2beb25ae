import { expect, test } from 'vitest';
import type { SubmitResult, WaitingReason } from '../../activities/interfaces.ts';
import { createJobWorkflowControl } from '../../worker/job-workflow-control.ts';
import { cancelSignal, pollNowSignal, providerBatchStateQuery } from '../../workflows/messages.ts';
import { searchAttributes } from '../../workflows/search-attributes.ts';
import { eventually } from '../harness/eventually.ts';
import { readEvents } from './read-history.ts';
import { useFakeEngine } from './use-fake-engine.ts';

const engine = useFakeEngine();

const MINUTE_MS = 60_000;

function waitFor(reason: WaitingReason, delayMs: number): SubmitResult {
  return { kind: 'wait', reason, delayMs, giveUp: null };
}

test.concurrent('a shard is submitted, polled, ingested and closed, in that order', async () => {
  const job = engine().addJob({ poll: [{}, {}] });
  await (await engine().startShard(job)).result();
  expect(job.calls.map(({ name }) => name)).toEqual([
    'nextStep',
    'submitAttempt',
    'nextStep',
    'pollAttempt',
    'pollAttempt',
    'pollAttempt',
    'ingestAttempt',
    'closeShard',
  ]);
  expect(job.called('closeShard')).toEqual([{ jobId: job.jobId, shard: 1, reason: 'batch_completed' }]);
});

test.concurrent('a shard that is settled already ends at once', async () => {
  const job = engine().addJob();
  job.shard(1).close('batch_completed');
  await (await engine().startShard(job)).result();
  expect(job.calls.map(({ name }) => name)).toEqual(['nextStep']);
});

test.concurrent('a provider that asks to wait is sent the same attempt again, once the wait is over', async () => {
  const job = engine().addJob({ submit: [waitFor('provider_capacity', 30), waitFor('provider_rate_limit', 30)] });
  await (await engine().startShard(job)).result();
  expect(job.called('submitAttempt').map(({ attempt }) => attempt)).toEqual([1, 1, 1]);
  expect(job.shard(1).closed).toBe('batch_completed');
});

test.concurrent('a shard that waits says for what, and until when', async () => {
  const job = engine().addJob({ submit: [waitFor('provider_capacity', MINUTE_MS)] });
  const handle = await engine().startShard(job);
  await eventually(async () => (await handle.query(providerBatchStateQuery)).nextPollAt !== null);
  const { stage, nextPollAt } = await handle.query(providerBatchStateQuery);
  expect(stage).toBe('waiting for provider capacity');
  const inMs = Date.parse(nextPollAt ?? '') - Date.now();
  expect(inMs).toBeGreaterThan(MINUTE_MS / 2);
  expect(inMs).toBeLessThanOrEqual(MINUTE_MS);
  const { typedSearchAttributes } = await handle.describe();
  expect(typedSearchAttributes.get(searchAttributes.status)).toBe('waiting');
  await handle.signal(pollNowSignal);
  await handle.result();
});

test.concurrent('a waiting shard that is woken asks again at once, and waking one that has ended is harmless', async () => {
  const job = engine().addJob({ submit: [waitFor('provider_capacity', MINUTE_MS)] });
  const handle = await engine().startShard(job);
  await eventually(() => job.shard(1).state === 'waiting');
  const control = createJobWorkflowControl(engine().client);
  await control.wakeShard(job.jobId, 1);
  await handle.result();
  expect(job.called('submitAttempt').map(({ attempt }) => attempt)).toEqual([1, 1]);
  await control.wakeShard(job.jobId, 1);
});

test.concurrent('a shard split after its batch was refused sends nothing more', async () => {
  const split = { next: 'resubmit', delayMs: 0, waiting: null, settled: 0, remaining: 10, unmatched: 0 } as const;
  const job = engine().addJob({ ingest: [split] });
  const ingesting = job.hold('ingestAttempt');
  const handle = await engine().startShard(job);
  await eventually(() => job.called('ingestAttempt').length === 1);
  const reading = job.hold('nextStep');
  ingesting.release();
  await eventually(() => job.called('nextStep').length === 3);
  job.shard(1).state = 'superseded';
  reading.release();
  await handle.result();
  expect(job.called('submitAttempt')).toHaveLength(1);
  expect(job.called('closeShard')).toEqual([]);
});

test.concurrent.each([
  [
    'gives up waiting',
    { kind: 'wait', reason: 'provider_account', delayMs: 5, giveUp: 'account_exhausted' },
    'account_exhausted',
  ],
  ['is refused for good', { kind: 'close', reason: 'rejected' }, 'rejected'],
] as const)('a shard that %s is closed for that reason', async (_what, answer, reason) => {
  const job = engine().addJob({ submit: [answer] });
  await (await engine().startShard(job)).result();
  expect(job.called('closeShard').map((call) => call['reason'])).toEqual([reason]);
  expect(job.called('pollAttempt')).toEqual([]);
});

test.concurrent('the batch of an unanswered create is looked for after the deadline, and adopted', async () => {
  const job = engine().addJob({
    submit: [{ kind: 'unknown', lookAfterMs: 200 }],
    resolve: [{ kind: 'look_again', delayMs: 20 }, { kind: 'accepted' }],
  });
  await (await engine().startShard(job)).result();
  expect(job.called('submitAttempt')).toHaveLength(1);
  expect(job.called('resolveAttempt').map(({ look }) => look)).toEqual([1, 2]);
  expect(job.shard(1).closed).toBe('batch_completed');
});

test.concurrent('a create that never happened is followed by a new attempt, and only then', async () => {
  const job = engine().addJob({
    submit: [{ kind: 'unknown', lookAfterMs: 20 }],
    resolve: [{ kind: 'look_again', delayMs: 20 }, { kind: 'not_found' }],
  });
  await (await engine().startShard(job)).result();
  const names = job.calls
    .map(({ name }) => name)
    .filter((name) => name === 'submitAttempt' || name === 'resolveAttempt');
  expect(names).toEqual(['submitAttempt', 'resolveAttempt', 'resolveAttempt', 'submitAttempt']);
  expect(job.called('submitAttempt').map(({ attempt }) => attempt)).toEqual([1, 2]);
});

test.concurrent('a provider that did not answer a look has not been looked at', async () => {
  const job = engine().addJob({
    submit: [{ kind: 'unknown', lookAfterMs: 5 }],
    resolve: [
      { kind: 'no_answer', delayMs: 5 },
      { kind: 'look_again', delayMs: 5 },
      { kind: 'no_answer', delayMs: 5 },
    ],
  });
  await (await engine().startShard(job)).result();
  expect(job.called('resolveAttempt').map(({ look }) => look)).toEqual([1, 1, 2, 2]);
});

test.concurrent('neither a poll now nor a cancel looks for a batch before its create deadline has passed', async () => {
  const job = engine().addJob({ submit: [{ kind: 'unknown', lookAfterMs: 1_500 }] });
  job.batchesOpen = true;
  const handle = await engine().startShard(job);
  await eventually(() => job.shard(1).state === 'creating');
  const unansweredAt = performance.now();
  job.cancel = { by: 'alice', reason: null };
  for (let signal = 0; signal < 3; signal += 1) {
    await handle.signal(pollNowSignal);
    await handle.signal(cancelSignal);
  }
  await eventually(() => job.called('resolveAttempt').length > 0);
  expect(performance.now() - unansweredAt).toBeGreaterThan(1_200);
  await handle.result();
  expect(job.called('cancelAttempt')).toHaveLength(1);
  expect(job.shard(1).closed).toBe('batch_cancelled');
});

test.concurrent('nothing shortens the wait between two looks', async () => {
  const job = engine().addJob({
    submit: [{ kind: 'unknown', lookAfterMs: 5 }],
    resolve: [{ kind: 'look_again', delayMs: 1_000 }],
  });
  const handle = await engine().startShard(job);
  await eventually(() => job.called('resolveAttempt').length === 1);
  const lookedAt = performance.now();
  await handle.signal(pollNowSignal);
  await eventually(() => job.called('resolveAttempt').length === 2);
  expect(performance.now() - lookedAt).toBeGreaterThan(800);
  await handle.result();
});

test.concurrent('several candidates leave the shard indeterminate until someone asks to look again', async () => {
  const job = engine().addJob({
    submit: [{ kind: 'unknown', lookAfterMs: 5 }],
    resolve: [{ kind: 'indeterminate', candidates: 2, delayMs: MINUTE_MS }],
  });
  const handle = await engine().startShard(job);
  await eventually(async () => (await handle.query(providerBatchStateQuery)).stage === 'indeterminate: 2 candidates');
  expect((await handle.describe()).typedSearchAttributes.get(searchAttributes.status)).toBe('indeterminate');
  expect(job.called('submitAttempt')).toHaveLength(1);
  await handle.signal(pollNowSignal);
  await handle.result();
  expect(job.called('resolveAttempt').map(({ look }) => look)).toEqual([1, 1]);
  expect(job.called('submitAttempt')).toHaveLength(1);
});

test.concurrent('a cancel while a shard waits for capacity wakes it at once, and nothing is sent', async () => {
  const job = engine().addJob({ submit: [waitFor('provider_capacity', MINUTE_MS)] });
  const handle = await engine().startShard(job);
  await eventually(() => job.shard(1).state === 'waiting');
  job.cancel = { by: 'alice', reason: null };
  await handle.signal(cancelSignal);
  await handle.result();
  expect(job.called('submitAttempt')).toHaveLength(1);
  expect(job.shard(1).closed).toBe('cancelled');
});

test.concurrent('a cancel stops an upload, and the batch is not created', async () => {
  const job = engine().addJob();
  job.hold('submitAttempt');
  const handle = await engine().startShard(job);
  await eventually(() => job.called('submitAttempt').length === 1);
  job.cancel = { by: 'alice', reason: null };
  await handle.signal(cancelSignal);
  await handle.result();
  expect(job.shard(1).closed).toBe('cancelled');
  expect(job.called('submitAttempt')).toHaveLength(1);
  const events = await readEvents(engine().client, handle.workflowId);
  expect(events.filter((event) => event.activityTaskCanceledEventAttributes)).toHaveLength(1);
});

test.concurrent('a cancel that came after the rows were read stops the upload before it begins', async () => {
  const job = engine().addJob();
  const reading = job.hold('nextStep', { after: true });
  const handle = await engine().startShard(job);
  await eventually(() => job.shard(1).attempt === 1);
  job.cancel = { by: 'alice', reason: null };
  await handle.signal(cancelSignal);
  reading.release();
  await handle.result();
  expect(job.called('submitAttempt')).toEqual([]);
  expect(job.shard(1).closed).toBe('cancelled');
});

test.concurrent('an upload that was stopped for no cancel is started again', async () => {
  const job = engine().addJob();
  const upload = job.hold('submitAttempt');
  const handle = await engine().startShard(job);
  await eventually(() => job.called('submitAttempt').length === 1);
  await handle.signal(cancelSignal);
  await eventually(() => job.called('submitAttempt').length === 2);
  upload.release();
  await handle.result();
  expect(job.shard(1).closed).toBe('batch_completed');
});

test.concurrent('a create that was on its way when the cancel came is awaited, then cancelled at the provider', async () => {
  const job = engine().addJob();
  const create = job.hold('submitAttempt', { heedsCancel: false });
  const handle = await engine().startShard(job);
  await eventually(() => job.called('submitAttempt').length === 1);
  job.shard(1).accept();
  job.cancel = { by: 'alice', reason: null };
  job.batchesOpen = true;
  await handle.signal(cancelSignal);
  await eventually(async () => {
    const events = await readEvents(engine().client, handle.workflowId);
    return events.some((event) => event.activityTaskCancelRequestedEventAttributes);
  });
  create.release();
  await handle.result();
  expect(job.called('cancelAttempt')).toHaveLength(1);
  expect(job.shard(1).closed).toBe('batch_cancelled');
});
