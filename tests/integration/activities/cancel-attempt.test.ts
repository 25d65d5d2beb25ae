import { afterAll, beforeEach, expect, test } from 'vitest';
import { createProviderActivities } from '../../../activities/create-activities.ts';
import { createJobActivities } from '../../../activities/job.ts';
import { getJobRow } from '../../../db/job-rows.ts';
import type { NativeBatch } from '../../../providers/provider.ts';
import { ProviderError, type ProviderErrorCode } from '../../../providers/provider-error.ts';
import { runActivity, testDependencies } from '../../harness/activities.ts';
import { eventually } from '../../harness/eventually.ts';
import { FakeProvider, nativeBatch } from '../../harness/fake-provider.ts';
import { insertJob, insertTenant } from '../../harness/jobs.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { createTestShards } from '../../harness/shard-activities.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);

/** Ten seconds of an activity's time are kept to write down what became of it. */
const TIME_OF_ACTIVITY_MS = 10_050;

class ScriptedProvider extends FakeProvider {
  onCancel: (signal: AbortSignal) => Promise<NativeBatch> = async () => nativeBatch('b', { phase: 'cancelling' });
  onRetrieve: ((signal: AbortSignal) => Promise<NativeBatch>) | null = null;

  override cancelBatch(input: { providerBatchId: string; signal?: AbortSignal }): Promise<NativeBatch> {
    return this.onCancel(input.signal ?? AbortSignal.abort());
  }

  override retrieveBatch(input: { providerBatchId: string; signal?: AbortSignal }): Promise<NativeBatch> {
    return this.onRetrieve?.(input.signal ?? AbortSignal.abort()) ?? super.retrieveBatch(input);
  }
}

function failure(code: ProviderErrorCode): ProviderError {
  return new ProviderError({ code, message: code, isRetryable: true, mayHaveActed: true });
}

/** Answers nothing for as long as the caller waits. */
function silence(signal: AbortSignal): Promise<NativeBatch> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(failure('aborted')), { once: true });
  });
}

let provider: ScriptedProvider;
beforeEach(() => {
  provider = new ScriptedProvider();
});

async function running() {
  const shards = createTestShards(db, provider, { random: () => 0 });
  const shard = await shards.newShard();
  await shard.submit();
  await shard.poll();
  const activities = createProviderActivities(testDependencies(db, { provider }));
  return { shard, activities, ref: { ...shard.ref, attempt: 1 } };
}

test.each([
  'rejected',
  'unavailable',
  'connection_lost',
  'timed_out',
  'malformed_reply',
  'not_found',
  'rate_limited',
] as const)(
  'a cancel that the provider answers with %s is not taken, fails nothing and changes nothing',
  async (code) => {
    const { shard, activities, ref } = await running();
    provider.onCancel = async () => {
      throw failure(code);
    };
    const before = await shard.row();
    expect(await runActivity(activities.cancelAttempt, ref)).toEqual({ accepted: false });
    expect(await shard.row()).toEqual(before);
    expect((await shard.poll()).kind).toBe('open');
  },
);

test('a provider that never answers a cancel is asked for so long and then polled on', async () => {
  const { shard, activities, ref } = await running();
  provider.onCancel = silence;
  expect(await runActivity(activities.cancelAttempt, ref, TIME_OF_ACTIVITY_MS)).toEqual({ accepted: false });
  expect((await shard.poll()).kind).toBe('open');
});

test('P-02: a provider that never answers a poll is away, which the shard says', async () => {
  const { shard, activities, ref } = await running();
  provider.onRetrieve = silence;
  const poll = { ...ref, pollsWithoutChange: 0 };
  expect(await runActivity(activities.pollAttempt, poll, TIME_OF_ACTIVITY_MS)).toMatchObject({ kind: 'open' });
  expect(await shard.row()).toMatchObject({ state: 'running', waitingReason: 'provider_trouble' });
});

test('a cancel of a batch that has ended is an answer', async () => {
  const { activities, ref } = await running();
  provider.onCancel = async () => nativeBatch('b', { phase: 'ended', end: 'completed', nativeStatus: 'completed' });
  expect(await runActivity(activities.cancelAttempt, ref)).toEqual({ accepted: true });
});

test('a batch cancelled in the provider’s own console ends the job cancelled, without a cancel of ours', async () => {
  const { shard, ref } = await running();
  const { providerBatchId } = await shard.attempt();
  provider.move(providerBatchId ?? '', { phase: 'ended', end: 'cancelled', nativeStatus: 'cancelled' });
  expect(await shard.poll()).toMatchObject({ kind: 'ended', end: 'cancelled', cancelRequested: false });
  // Its files are read again until results are not late any more.
  const ingested = await eventually(async () => {
    const result = await shard.ingest(2);
    return result.next === 'again' ? null : result;
  });
  expect(ingested).toMatchObject({ next: 'close', reason: 'batch_cancelled' });
  await shard.close('batch_cancelled');
  const activities = createJobActivities(testDependencies(db));
  expect(await activities.reconcileJob({ jobId: ref.jobId })).toMatchObject({ state: 'cancelled' });
  expect(await getJobRow(db.pool, ref.jobId)).toMatchObject({ state: 'cancelled', cancelRequestedAt: null });
});

test('a cancel by Temporal’s roads reaches no draft and no ended job', async () => {
  const { recordCancel } = createJobActivities(testDependencies(db));
  const draft = await insertJob(db, await insertTenant(db), { state: 'draft' });
  const ended = await insertJob(db, await insertTenant(db));
  await db.pool.query("UPDATE batch_jobs SET state = 'completed' WHERE job_id = $1", [ended.key.uuid]);
  for (const { jobId, state } of [draft, { ...ended, state: 'completed' }]) {
    await recordCancel({ jobId, by: 'temporal', reason: null });
    expect(await getJobRow(db.pool, jobId)).toMatchObject({ state, cancelRequestedAt: null });
  }
});
