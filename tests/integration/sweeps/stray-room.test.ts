import { afterAll, beforeEach, expect, test } from 'vitest';
import { ProviderError } from '../../../providers/provider-error.ts';
import { FakeProvider, refusal } from '../../harness/fake-provider.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { createTestShards, type TestShard } from '../../harness/shard-activities.ts';
import { findings, ScriptedWorkflows, sweeper } from './sweep-fixture.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);

const HOUR_MS = 3_600_000;
const NONE = { looked: 0, repaired: 0, raised: 0, failed: 0 };
const LOST = new ProviderError({ code: 'connection_lost', message: 'lost', isRetryable: true, mayHaveActed: true });

let provider: FakeProvider;
let clock: { ms: number };
let workflows: ScriptedWorkflows;
let shards: ReturnType<typeof createTestShards>;
let sweep: ReturnType<typeof sweeper>;
beforeEach(async () => {
  await db.pool.query('UPDATE batch_provider_metadata SET closed_at = now() WHERE closed_at IS NULL');
  await db.pool.query("UPDATE batch_shards SET state = 'settled'");
  await db.pool.query('DELETE FROM capacity_accounts');
  await db.pool.query('DELETE FROM sweep_findings');
  provider = new FakeProvider();
  clock = { ms: Date.now() + HOUR_MS };
  const now = () => new Date(clock.ms);
  workflows = new ScriptedWorkflows();
  shards = createTestShards(db, provider, { sizesDiffer: true, now, random: () => 0 });
  sweep = sweeper(db, { workflows, now });
});

/** Its shard is over, its attempt never heard of it. */
async function forget(shard: TestShard): Promise<void> {
  await db.pool.query(
    "UPDATE batch_shards SET state = 'settled' WHERE job_id = (SELECT job_id FROM batch_provider_metadata WHERE attempt_token = $1)",
    [(await shard.attempt()).attemptToken],
  );
}

test('room kept by an attempt whose shard is over is given back once, and whoever waits is woken', async () => {
  provider.onCreate = async () => {
    throw LOST;
  };
  const lost = await shards.newShard();
  expect((await lost.submit()).kind).toBe('unknown');
  const waiting = await shards.newShard();
  expect(await waiting.submit()).toMatchObject({ kind: 'wait', reason: 'submission_turn' });
  expect(await sweep('sweepRoom')).toEqual(NONE);
  await forget(lost);
  const both = await Promise.all([sweep('sweepRoom'), sweep('sweepRoom')]);
  expect(both.map(({ repaired }) => repaired).toSorted()).toEqual([0, 1]);
  expect(workflows.calls).toEqual([`wake ${waiting.ref.jobId}/1`]);
  provider.onCreate = async () => ({});
  expect(await waiting.submit()).toEqual({ kind: 'accepted' });
  // Should its batch exist after all, it is one too many.
  expect(await lost.attempt()).toMatchObject({ createOutcome: 'not_found', closedAt: expect.any(Date) });
  expect(await findings(db)).toMatchObject([
    { kind: 'room_without_holder', outcome: 'repaired', subject: `${lost.ref.jobId}/1/1`, times: 1 },
  ]);
  expect(await sweep('sweepRoom')).toEqual(NONE);
});

test('attempts under way keep their room', async () => {
  const shard = await shards.newShard();
  await shard.submit();
  expect(await sweep('sweepRoom')).toEqual(NONE);
  expect((await shard.attempt()).closedAt).toBeNull();
});

test('a full queue that nobody waits for any more is forgotten after a while, one that is awaited stays full', async () => {
  const isFull = async () => {
    const { rows } = await db.pool.query('SELECT full_since FROM capacity_accounts');
    return rows[0]?.full_since !== null;
  };
  shards = createTestShards(db, provider, { now: () => new Date(clock.ms), random: () => 0 });
  provider.onCreate = async () => {
    throw refusal('capacity_full', 'too many concurrent batches');
  };
  const shard = await shards.newShard();
  expect(await shard.submit()).toMatchObject({ kind: 'wait', reason: 'provider_capacity' });
  clock.ms += 3 * HOUR_MS;
  await sweep('sweepRoom');
  expect(await isFull()).toBe(true);
  await shard.close('cancelled');
  await db.pool.query('UPDATE capacity_accounts SET full_since = now(), probe_at = $1, last_refused_at = $1', [
    new Date(clock.ms),
  ]);
  await sweep('sweepRoom');
  expect(await isFull()).toBe(true);
  clock.ms += 3 * HOUR_MS;
  await sweep('sweepRoom');
  expect(await isFull()).toBe(false);
});
