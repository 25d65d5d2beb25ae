import { afterAll, beforeEach, expect, test } from 'vitest';
import { getJobRow } from '../../../db/job-rows.ts';
import type { NativeBatch } from '../../../providers/provider.ts';
import { catalogueOf, FakeProvider, refusal } from '../../harness/fake-provider.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { createTestShards, type TestShard } from '../../harness/shard-activities.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);

const ITEMS = 3;
/** Of one shard, by the harness' twenty to an item. */
const TOKENS = 60;
/** Later than anything that the database dates by itself. */
const START = Date.now() + 3_600_000;

let provider: FakeProvider;
let clock: { ms: number };
let shards: ReturnType<typeof createTestShards>;
beforeEach(async () => {
  // Accounts are shared by all jobs: each test begins with none.
  await db.pool.query('DELETE FROM capacity_accounts');
  await db.pool.query('UPDATE batch_provider_metadata SET closed_at = now() WHERE closed_at IS NULL');
  await db.pool.query("UPDATE batch_shards SET state = 'settled'");
  provider = new FakeProvider();
  clock = { ms: START };
  shards = create();
});

function create(overrides: Parameters<typeof createTestShards>[2] = {}) {
  return createTestShards(db, provider, { now: () => new Date(clock.ms), random: () => 0, ...overrides });
}

const nameOf = ({ ref }: TestShard) => `${ref.jobId}/${ref.shard}`;
const ENDED: Partial<NativeBatch> = { phase: 'ended', end: 'completed', nativeStatus: 'completed' };
const WAITS = { kind: 'wait', reason: 'provider_capacity', giveUp: null };
const FULL_WORDS = `Limit: ${TOKENS + 1} enqueued tokens.`;

/** Refused for a full queue by the create itself. */
function refuseCreates(words = 'too many concurrent batches') {
  provider.onCreate = async () => {
    throw refusal('capacity_full', words);
  };
}

function acceptCreates(batch: Partial<NativeBatch> = {}) {
  provider.onCreate = async () => batch;
}

/** Accepted, and refused by the provider's validation, as OpenAI does. */
async function refuseAtValidation(shard: TestShard, words = 'queue is full') {
  acceptCreates({ phase: 'validating', nativeStatus: 'validating' });
  expect(await shard.submit()).toEqual({ kind: 'accepted' });
  const { providerBatchId } = await shard.attempt();
  provider.move(providerBatchId ?? '', {
    ...{ phase: 'ended', end: 'failed', nativeStatus: 'failed', capacityRefused: true },
    validationErrors: [{ code: 'token_limit_exceeded', message: words, line: null, param: null }],
  });
  expect((await shard.poll()).kind).toBe('ended');
  return shard.ingest();
}

async function endBatch(shard: TestShard) {
  const { providerBatchId } = await shard.attempt();
  provider.move(providerBatchId ?? '', ENDED);
  await shard.poll();
}

test('a create refused for a full queue waits with its file, and others of the account do not try', async () => {
  const [first, second] = [await shards.newShard({ items: ITEMS }), await shards.newShard({ items: ITEMS })];
  refuseCreates();
  expect(await first.submit()).toMatchObject({ ...WAITS, delayMs: 20 });
  clock.ms += 10;
  expect(await second.submit()).toMatchObject(WAITS);
  expect(await second.row()).toMatchObject({ state: 'waiting', waitingReason: 'provider_capacity' });
  expect([provider.inputs.length, provider.creates.length]).toEqual([1, 1]);
  // The time to try has come: for the one that came first.
  clock.ms += 10;
  expect(await second.submit()).toMatchObject(WAITS);
  acceptCreates();
  expect(await first.submit()).toEqual({ kind: 'accepted' });
  expect([provider.inputs.length, provider.creates.length]).toEqual([1, 2]);
  expect((await first.attempt()).attempt).toBe(1);
  expect(shards.woken.at(-1)).toBe(nameOf(second));
});

test('a batch refused by the validation is closed, and the shard tries again in a new attempt', async () => {
  const shard = await shards.newShard({ items: ITEMS });
  const result = await refuseAtValidation(shard);
  expect(result).toMatchObject({ next: 'resubmit', waiting: 'provider_capacity', delayMs: 20, remaining: ITEMS });
  const { closedAt, attempt } = await shard.attempt();
  expect([attempt, closedAt]).toEqual([1, new Date(clock.ms)]);
  expect(await shard.row()).toMatchObject({ state: 'waiting', waitingReason: 'provider_capacity' });
  // A worker that died after it had answered does the same again, and nothing changes.
  expect(await shard.ingest()).toMatchObject({ next: 'resubmit', remaining: ITEMS });
  expect(await shard.submit()).toMatchObject({ ...WAITS, delayMs: 20 });
  clock.ms += 20;
  acceptCreates();
  expect(await shard.submit()).toEqual({ kind: 'accepted' });
  expect((await shard.attempt()).attempt).toBe(2);
});

test('what does not fit the named limit waits without a try until a batch has left, first come first', async () => {
  const [running, second, third] = [
    await shards.newShard({ items: ITEMS }),
    await shards.newShard({ items: ITEMS }),
    await shards.newShard({ items: ITEMS }),
  ];
  expect(await running.submit()).toEqual({ kind: 'accepted' });
  refuseCreates(FULL_WORDS);
  clock.ms += 1;
  expect(await second.submit()).toMatchObject(WAITS);
  clock.ms += 1;
  expect(await third.submit()).toMatchObject(WAITS);
  clock.ms += 60_000;
  expect(await second.submit()).toMatchObject({ kind: 'wait' });
  expect(provider.creates).toHaveLength(2);
  acceptCreates();
  await endBatch(running);
  expect(shards.woken.at(-1)).toBe(nameOf(second));
  // Woken out of turn, the later one waits all the same.
  expect(await third.submit()).toMatchObject({ kind: 'wait' });
  expect(provider.creates).toHaveLength(2);
});

test('of many that ask at once as many take room as fit the named limit', async () => {
  shards = create({ settings: { ...settingsOf(), capacityWaitMs: 3_600_000 } });
  const teacher = await shards.newShard({ items: ITEMS });
  refuseCreates(FULL_WORDS);
  await teacher.submit();
  await db.pool.query("UPDATE batch_shards SET state = 'settled'");
  await db.pool.query('UPDATE batch_provider_metadata SET closed_at = now() WHERE closed_at IS NULL');
  clock.ms += 60_000;
  acceptCreates();
  const asking = await Promise.all([1, 2, 3, 4, 5].map(() => shards.newShard({ items: ITEMS })));
  const answers = await Promise.all(asking.map((shard) => shard.submit()));
  expect(answers.filter(({ kind }) => kind === 'accepted')).toHaveLength(1);
  expect(answers.filter(({ kind }) => kind === 'wait')).toHaveLength(4);
  expect(provider.creates).toHaveLength(2);
});

test('room that a batch left while another was being refused is tried at once', async () => {
  const [running, shard] = [await shards.newShard({ items: ITEMS }), await shards.newShard({ items: ITEMS })];
  await running.submit();
  clock.ms += 1;
  provider.onCreate = async () => {
    clock.ms += 1;
    await endBatch(running);
    throw refusal('capacity_full');
  };
  expect(await shard.submit()).toMatchObject({ ...WAITS, delayMs: 0 });
  acceptCreates();
  expect(await shard.submit()).toEqual({ kind: 'accepted' });
});

test("the provider's own hint is the time to try again, for all", async () => {
  const [first, second] = [await shards.newShard({ items: ITEMS }), await shards.newShard({ items: ITEMS })];
  provider.onCreate = async () => {
    throw Object.assign(refusal('capacity_full'), { retryAfterMs: 7_000 });
  };
  expect(await first.submit()).toMatchObject({ ...WAITS, delayMs: 7_000 });
  clock.ms += 6_999;
  expect(await first.submit()).toMatchObject({ ...WAITS, delayMs: 1 });
  expect(await second.submit()).toMatchObject(WAITS);
  expect(provider.creates).toHaveLength(1);
});

test('a shard that alone exceeds the named limit is split, and its halves keep its place', async () => {
  const large = await shards.newShard({ items: ITEMS });
  refuseCreates(`Limit: ${TOKENS - 1} enqueued tokens.`);
  expect(await large.submit()).toEqual({ kind: 'split' });
  expect(await large.attempt()).toMatchObject({ createOutcome: 'refused', closedAt: new Date(clock.ms) });
  // A worker that died after the split finds the attempt closed, and changes nothing.
  expect(await large.nextStep()).toEqual({ kind: 'settled' });
  const [, left, right] = await large.rows();
  expect(left).toMatchObject({ state: 'planned', waitingReason: 'provider_capacity', waitingSince: new Date(START) });
  acceptCreates();
  expect(await shards.shardOf(large.ref.jobId, left?.shard ?? 0).submit()).toEqual({ kind: 'accepted' });
  expect(await shards.shardOf(large.ref.jobId, right?.shard ?? 0).submit()).toMatchObject(WAITS);
});

test('a shard refused beside others is not split for it', async () => {
  const [running, large] = [await shards.newShard({ items: 1 }), await shards.newShard({ items: ITEMS })];
  await running.submit();
  clock.ms += 1;
  expect(await refuseAtValidation(large, `Limit: ${TOKENS - 1} enqueued tokens.`)).toMatchObject({
    waiting: 'provider_capacity',
  });
  expect(await large.rows()).toHaveLength(1);
});

test('a single item that stays refused fails once the gateway has waited as long as it does', async () => {
  shards = create({ settings: { ...settingsOf(), capacityWaitMs: 1_000 } });
  const shard = await shards.newShard({ items: 1 });
  refuseCreates('Limit: 1 enqueued tokens.');
  expect(await shard.submit()).toMatchObject(WAITS);
  clock.ms += 1_000;
  expect(await shard.submit()).toMatchObject({ kind: 'wait', giveUp: 'capacity_exhausted' });
  expect(await shard.close('capacity_exhausted')).toEqual({ closed: 1 });
  const { rows } = await db.pool.query('SELECT error_code, amount FROM item_outcomes ORDER BY settled_at DESC LIMIT 1');
  expect(rows[0]).toMatchObject({ error_code: 'provider_queue_full' });
  expect(Number(rows[0].amount)).toBe(0);
});

test('so does one that never got its turn', async () => {
  shards = create({ settings: { ...settingsOf(), capacityWaitMs: 1_000 } });
  const [running, second, third] = await Promise.all([1, 2, 3].map(() => shards.newShard({ items: ITEMS })));
  await running?.submit();
  refuseCreates(FULL_WORDS);
  clock.ms += 1;
  await second?.submit();
  clock.ms += 1;
  await third?.submit();
  clock.ms += 1_000;
  expect(await third?.submit()).toMatchObject({ kind: 'wait', giveUp: 'capacity_exhausted' });
  expect(await third?.attempt()).toMatchObject({ createOutcome: 'not_sent', inputFileId: null });
});

test('over a published limit shards go one after the other, but for a try from time to time', async () => {
  shards = create({ catalogue: catalogueOf({ maxConcurrentBatches: 1 }) });
  const [running, shard] = [await shards.newShard({ items: ITEMS }), await shards.newShard({ items: ITEMS })];
  await running.submit();
  expect(await shard.submit()).toMatchObject({ ...WAITS, delayMs: 20 });
  expect(await shard.submit()).toMatchObject(WAITS);
  clock.ms += 20;
  expect(await shard.submit()).toEqual({ kind: 'accepted' });
});

test('a shard whose job is cancelled, or that nobody acts for, holds up no other', async () => {
  const [cancelled, dead, shard] = [
    await shards.newShard({ items: ITEMS }),
    await shards.newShard({ items: ITEMS }),
    await shards.newShard({ items: ITEMS }),
  ];
  refuseCreates();
  await cancelled.submit();
  clock.ms += 1;
  await dead.submit();
  clock.ms += 1;
  await shard.submit();
  const { key } = await getJobRow(db.pool, cancelled.ref.jobId);
  await db.pool.query('UPDATE batch_jobs SET cancel_requested_at = now() WHERE job_id = $1', [key.uuid]);
  clock.ms += 15 * 60_000;
  acceptCreates();
  expect(await shard.submit()).toEqual({ kind: 'accepted' });
});

function settingsOf() {
  return {
    ...{ pollMinMs: 10, pollMaxMs: 100, createDeadlineMs: 2_000, listingLagMs: 20, resultGraceMs: 50 },
    ...{ providerLostAfterMs: 1_000, capacityRetryMs: 20, waitLimitMs: 60_000, capacityWaitMs: 60_000, shardWindow: 8 },
    ...{ taskAttempts: 3, taskRetryMs: 20, documentsAtOnce: 4 },
    workDirectory: '/tmp/batchgate-tests',
  };
}
