import { afterAll, beforeEach, expect, test } from 'vitest';
import { getJobRow } from '../../../db/job-rows.ts';
import { fixedAdapters } from '../../../providers/provider-adapters.ts';
import { ProviderError } from '../../../providers/provider-error.ts';
import { FakeProvider, nativeBatch } from '../../harness/fake-provider.ts';
import { insertJob, insertTenant } from '../../harness/jobs.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { createTestShards, type TestShard } from '../../harness/shard-activities.ts';
import { findings, ScriptedWorkflows, sweeper } from './sweep-fixture.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);

const MINUTE_MS = 60_000;
const LOST = new ProviderError({ code: 'connection_lost', message: 'lost', isRetryable: true, mayHaveActed: true });

let workflows: ScriptedWorkflows;
let provider: FakeProvider;
/** Later than anything that the database dates by itself. */
let clock: { ms: number };
let shards: ReturnType<typeof createTestShards>;
let sweep: ReturnType<typeof sweeper>;
beforeEach(async () => {
  await db.pool.query("UPDATE batch_jobs SET state = 'failed', completed_at = now()");
  await db.pool.query('UPDATE batch_provider_metadata SET closed_at = now() WHERE closed_at IS NULL');
  await db.pool.query('DELETE FROM sweep_findings');
  workflows = new ScriptedWorkflows();
  provider = new FakeProvider();
  clock = { ms: Date.now() + 3_600_000 };
  const now = () => new Date(clock.ms);
  shards = createTestShards(db, provider, { now, random: () => 0 });
  sweep = sweeper(db, { workflows, now, providers: fixedAdapters(new Map([['openai', provider]])) });
});

const NONE = { looked: 0, repaired: 0, raised: 0, failed: 0 };
const nameOf = ({ ref }: TestShard) => `${ref.jobId}/${ref.shard}`;

/** A shard whose batch runs, last asked about now. */
async function polledShard(): Promise<TestShard> {
  const shard = await shards.newShard();
  await shard.submit();
  await shard.poll();
  workflows.running.add(shard.ref.jobId).add(nameOf(shard));
  return shard;
}

test('a submitted job without a workflow is started, before its verdict as well as after it, and found once a day', async () => {
  const validating = await insertJob(db, await insertTenant(db));
  const running = await shards.newShard();
  const draft = await insertJob(db, await insertTenant(db), { state: 'draft' });
  expect(await sweep('recoverJobs')).toEqual({ started: 2, signalled: 0, failed: 0 });
  expect(workflows.calls.toSorted()).toEqual([`start ${validating.jobId}`, `start ${running.ref.jobId}`].toSorted());
  expect(workflows.calls).not.toContain(`start ${draft.jobId}`);
  expect(await sweep('recoverJobs')).toEqual({ started: 0, signalled: 0, failed: 0 });
  workflows.running.delete(validating.jobId);
  expect(await sweep('recoverJobs')).toMatchObject({ started: 1 });
  const { tenantId } = validating;
  expect((await findings(db)).find(({ subject }) => subject === validating.jobId)).toMatchObject({
    ...{ kind: 'job_without_workflow', outcome: 'repaired', times: 2, jobId: validating.jobId, tenantId },
    facts: { submission_no: 1, cancel_requested: false },
  });
});

test('a submission that is still being handed over is left alone', async () => {
  await insertJob(db, await insertTenant(db));
  clock.ms = Date.now() + 5_000;
  expect(await sweep('recoverJobs')).toEqual({ started: 0, signalled: 0, failed: 0 });
});

test('one job that cannot be started stops no other, and is raised', async () => {
  const jobs = [];
  for (let count = 0; count < 4; count += 1) jobs.push(await insertJob(db, await insertTenant(db)));
  workflows.broken.add(jobs[1]?.jobId ?? '');
  expect(await sweep('recoverJobs')).toEqual({ started: 3, signalled: 0, failed: 1 });
  expect(await findings(db)).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ kind: 'sweep_failed', subject: jobs[1]?.jobId, outcome: 'raised' }),
    ]),
  );
});

test('a sweep gives up when everything fails, and does more the next time', async () => {
  const tenant = await insertTenant(db);
  const jobs = [];
  for (let count = 0; count < 12; count += 1) jobs.push(await insertJob(db, tenant, { items: 1 }));
  for (const { jobId } of jobs) workflows.broken.add(jobId);
  await expect(sweep('recoverJobs')).rejects.toThrow('no answer');
  workflows.broken.clear();
  expect(await sweep('recoverJobs')).toEqual({ started: 12, signalled: 0, failed: 0 });
});

test('two sweeps at once start a job once', async () => {
  const { jobId } = await insertJob(db, await insertTenant(db));
  const both = await Promise.all([sweep('recoverJobs'), sweep('recoverJobs')]);
  expect(both.map(({ started }) => started).toSorted()).toEqual([0, 1]);
  expect(await findings(db)).toMatchObject([{ subject: jobId, times: 1 }]);
});

test('a shard whose workflow is gone while its job has one is started again by that job', async () => {
  const shard = await polledShard();
  workflows.running.delete(nameOf(shard));
  expect(await sweep('sweepShards')).toEqual(NONE);
  clock.ms += 11 * MINUTE_MS;
  expect(await sweep('sweepShards')).toEqual({ ...NONE, looked: 1, repaired: 1 });
  expect(workflows.calls).toEqual([`wakeJob ${shard.ref.jobId}`]);
  expect(await findings(db)).toMatchObject([
    { kind: 'shard_without_workflow', subject: nameOf(shard), facts: { shard: 1, state: 'running' } },
  ]);
  // Still gone: now it is an operator's.
  expect(await sweep('sweepShards')).toEqual({ ...NONE, looked: 1, raised: 1 });
  expect(await findings(db)).toMatchObject([{ outcome: 'raised', times: 2 }]);
});

test('where the job has no workflow either, that is what is found', async () => {
  const shard = await polledShard();
  workflows.running.clear();
  clock.ms += 11 * MINUTE_MS;
  expect(await sweep('sweepShards')).toEqual({ ...NONE, looked: 1 });
  expect(await sweep('recoverJobs')).toMatchObject({ started: 1 });
  expect(await findings(db)).toMatchObject([{ kind: 'job_without_workflow', subject: shard.ref.jobId }]);
});

test('a poll that is long past is asked for, one that is due is not', async () => {
  const shard = await polledShard();
  clock.ms += 9 * MINUTE_MS;
  expect(await sweep('sweepShards')).toEqual(NONE);
  clock.ms += 2 * MINUTE_MS;
  expect(await sweep('sweepShards')).toEqual({ ...NONE, looked: 1, repaired: 1 });
  expect(workflows.calls).toEqual([`wake ${nameOf(shard)}`]);
  expect(await findings(db)).toMatchObject([{ kind: 'poll_overdue', outcome: 'repaired' }]);
  await shard.poll();
  expect(await sweep('sweepShards')).toEqual(NONE);
});

test('a shard that downloads for an hour is left alone', async () => {
  const shard = await polledShard();
  const { providerBatchId } = await shard.attempt();
  provider.move(providerBatchId ?? '', { phase: 'ended', end: 'completed', nativeStatus: 'completed' });
  await shard.poll();
  clock.ms += 60 * MINUTE_MS;
  expect(await sweep('sweepShards')).toEqual({ ...NONE, looked: 1 });
  expect(workflows.calls).toEqual([]);
});

test('shards that have ended, or were never begun, are not looked at', async () => {
  const ended = await polledShard();
  await ended.close('cancelled');
  await shards.newShard();
  clock.ms += 60 * MINUTE_MS;
  expect(await sweep('sweepShards')).toEqual(NONE);
});

test('a job that slept through its deadline is woken, one that acts upon it is not', async () => {
  const [asleep, acting, early] = [await polledShard(), await polledShard(), await polledShard()];
  const setDeadline = async ({ ref }: TestShard, at: number) =>
    db.pool.query('UPDATE batch_jobs SET deadline = $2 WHERE job_id = $1', [
      (await getJobRow(db.pool, ref.jobId)).key.uuid,
      new Date(at),
    ]);
  await setDeadline(asleep, clock.ms + MINUTE_MS);
  await setDeadline(acting, clock.ms + MINUTE_MS);
  await setDeadline(early, clock.ms + 60 * MINUTE_MS);
  clock.ms += 2 * MINUTE_MS;
  await acting.poll();
  expect(await sweep('sweepDeadlines')).toEqual(NONE);
  clock.ms += 10 * MINUTE_MS;
  expect(await sweep('sweepDeadlines')).toEqual({ ...NONE, looked: 1, repaired: 1 });
  expect(workflows.calls).toEqual([`wakeJob ${asleep.ref.jobId}`]);
  expect(await findings(db)).toMatchObject([{ kind: 'deadline_passed', facts: { shards: 1 } }]);
});

test('a create that nobody answered is woken long after its deadline, and never sent from here', async () => {
  provider.onCreate = async () => {
    throw LOST;
  };
  const shard = await shards.newShard();
  expect((await shard.submit()).kind).toBe('unknown');
  expect(await sweep('sweepCreates')).toEqual(NONE);
  clock.ms += 11 * MINUTE_MS;
  expect(await sweep('sweepCreates')).toEqual({ ...NONE, looked: 1, repaired: 1 });
  expect(workflows.calls).toEqual([`wake ${nameOf(shard)}`]);
  expect(provider.creates).toHaveLength(1);
  provider.candidates = [nativeBatch('batch-a'), nativeBatch('batch-b')];
  expect((await shard.resolve()).kind).toBe('indeterminate');
  expect(await sweep('sweepCreates')).toEqual({ ...NONE, looked: 1, raised: 1 });
  expect(await findings(db)).toMatchObject([
    { kind: 'create_unanswered', outcome: 'repaired', subject: `${nameOf(shard)}/1` },
    { kind: 'create_indeterminate', outcome: 'raised', subject: `${nameOf(shard)}/1` },
  ]);
  provider.candidates = [nativeBatch('batch-a')];
  expect(await shard.resolve()).toEqual({ kind: 'accepted' });
  expect(await sweep('sweepCreates')).toEqual(NONE);
});
