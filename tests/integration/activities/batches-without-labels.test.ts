import { afterAll, beforeEach, expect, test } from 'vitest';
import { takeCreate } from '../../../db/creates.ts';
import { getJobRow } from '../../../db/job-rows.ts';
import { encodeProviderItemId } from '../../../domain/attempt-token.ts';
import { ProviderError } from '../../../providers/provider-error.ts';
import { FakeProvider, nativeBatch } from '../../harness/fake-provider.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { createTestShards, type TestShard } from '../../harness/shard-activities.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);

let provider: FakeProvider;
let clock: { ms: number };
let shards: ReturnType<typeof createTestShards>;
beforeEach(async () => {
  await db.pool.query('UPDATE batch_provider_metadata SET closed_at = now() WHERE closed_at IS NULL');
  await db.pool.query("UPDATE batch_shards SET state = 'settled'");
  provider = new FakeProvider();
  // Later than anything that the database dates by itself.
  clock = { ms: Date.now() + 3_600_000 };
  shards = createTestShards(db, provider, { sizesDiffer: true, now: () => new Date(clock.ms), random: () => 0 });
});

const LOST = new ProviderError({ code: 'connection_lost', message: 'lost', isRetryable: true, mayHaveActed: true });
const TURN = { kind: 'wait', reason: 'submission_turn', giveUp: null };
const nameOf = ({ ref }: TestShard) => `${ref.jobId}/${ref.shard}`;

/** An attempt whose create was sent and never answered. */
async function unanswered(): Promise<TestShard> {
  const shard = await shards.newShard();
  provider.onCreate = async () => {
    throw LOST;
  };
  expect((await shard.submit()).kind).toBe('unknown');
  provider.onCreate = async () => ({});
  return shard;
}

test('of two that are ready to create at the same moment one does, and the other waits for its answer', async () => {
  const both = Promise.withResolvers<void>();
  let ready = 0;
  provider.onUpload = async () => {
    ready += 1;
    if (ready === 2) both.resolve();
    await both.promise;
  };
  const [sent, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  provider.onCreate = async () => {
    sent.resolve();
    await answered.promise;
    return {};
  };
  const [first, second] = [await shards.newShard(), await shards.newShard()];
  const submitting = [first, second].map((shard) => shard.submit().then((result) => ({ shard, result })));
  const waiting = await Promise.race(submitting);
  expect(waiting.result).toMatchObject(TURN);
  await sent.promise;
  expect(provider.creates).toHaveLength(1);
  expect(await waiting.shard.row()).toMatchObject({ state: 'waiting', waitingReason: 'submission_turn' });
  expect(await waiting.shard.submit()).toMatchObject(TURN);
  answered.resolve();
  const results = await Promise.all(submitting);
  expect(results.map(({ result }) => result.kind).toSorted()).toEqual(['accepted', 'wait']);
  expect(shards.woken).toContain(nameOf(waiting.shard));
  expect(await waiting.shard.submit()).toEqual({ kind: 'accepted' });
  expect(new Set(provider.creates.map(({ attemptToken }) => attemptToken)).size).toBe(2);
});

test('of many claims at the same moment one is granted', async () => {
  const asking = await Promise.all(Array.from({ length: 10 }, () => shards.newShard({ items: 1 })));
  for (const shard of asking) await shard.nextStep();
  const times = { now: new Date(clock.ms), deadline: new Date(clock.ms + 1_000) };
  const claims = await Promise.all(
    asking.map(async (shard) => {
      const { key } = await getJobRow(db.pool, shard.ref.jobId);
      return takeCreate(db, key, await shard.attempt(), { ...times, oneAtATime: true });
    }),
  );
  expect(claims.toSorted()).toEqual([...Array(9).fill('not_its_turn'), 'taken']);
});

test('nothing is uploaded while a create is unanswered, and all goes on once its batch is found', async () => {
  const lost = await unanswered();
  const next = await shards.newShard();
  expect(await next.submit()).toMatchObject({ ...TURN, delayMs: 20 });
  expect(provider.inputs).toHaveLength(1);
  provider.candidates = [nativeBatch('batch-found')];
  expect(await lost.resolve()).toEqual({ kind: 'accepted' });
  expect(shards.woken.at(-1)).toBe(nameOf(next));
  expect(await next.submit()).toEqual({ kind: 'accepted' });
});

test('nor does one that never happened hold up the others for longer than it takes to know', async () => {
  const lost = await unanswered();
  const next = await shards.newShard();
  expect(await next.submit()).toMatchObject(TURN);
  expect((await lost.resolve(1)).kind).toBe('look_again');
  expect(await lost.resolve(2)).toEqual({ kind: 'not_found' });
  expect(shards.woken.at(-1)).toBe(nameOf(next));
  expect(await next.submit()).toEqual({ kind: 'accepted' });
});

test('where batches carry labels several creates may be unanswered', async () => {
  shards = createTestShards(db, provider, { now: () => new Date(clock.ms) });
  await unanswered();
  const next = await shards.newShard();
  expect(await next.submit()).toEqual({ kind: 'accepted' });
});

test('a batch that another attempt has is no candidate, and of two that nobody has neither is taken', async () => {
  const owner = await shards.newShard();
  await owner.submit();
  const { providerBatchId = '' } = await owner.attempt();
  const owned = nativeBatch(providerBatchId ?? '');
  const lost = await unanswered();
  provider.candidates = [owned];
  expect((await lost.resolve(1)).kind).toBe('look_again');
  provider.candidates = [owned, nativeBatch('batch-a'), nativeBatch('batch-b')];
  expect(await lost.resolve(1)).toMatchObject({ kind: 'indeterminate', candidates: 2 });
  expect(await lost.row()).toMatchObject({ state: 'indeterminate', waitingReason: 'confirming_submission' });
  provider.candidates = [owned, nativeBatch('batch-b')];
  expect(await lost.resolve(1)).toEqual({ kind: 'accepted' });
  expect(await lost.attempt()).toMatchObject({ providerBatchId: 'batch-b', foundByLook: true });
});

const OTHERS = encodeProviderItemId('0'.repeat(26), 1);

/** A batch ended with lines that are all another's. */
function endForeign(id: string, lines = [OTHERS, OTHERS.replace(/1$/, '2')]) {
  provider.move(id, { phase: 'ended', end: 'completed', nativeStatus: 'ended' });
  provider.results.set(id, lines);
}

test('a found batch that somebody else made, with ids of any kind, is looked for again too', async () => {
  const lost = await unanswered();
  provider.candidates = [nativeBatch('batch-foreign')];
  await lost.resolve();
  endForeign('batch-foreign', ['request-1', 'request-2']);
  await lost.poll();
  expect(await lost.ingest()).toMatchObject({ next: 'resubmit', waiting: 'confirming_submission', settled: 0 });
  expect(await lost.attempt()).toMatchObject({ providerBatchId: null, disownedBatchIds: ['batch-foreign'] });
});

test('a found batch with the results of another settles nothing and is looked for again, without that one', async () => {
  const lost = await unanswered();
  provider.candidates = [nativeBatch('batch-foreign')];
  await lost.resolve();
  endForeign('batch-foreign');
  expect((await lost.poll()).kind).toBe('ended');
  expect(await lost.ingest()).toMatchObject({
    ...{ next: 'resubmit', waiting: 'confirming_submission', delayMs: 0 },
    ...{ settled: 0, remaining: 3, unmatched: 2 },
  });
  expect(await lost.row()).toMatchObject({ state: 'indeterminate', waitingReason: 'confirming_submission' });
  expect(await lost.attempt()).toMatchObject({
    ...{ attempt: 1, providerBatchId: null, closedAt: null, createOutcome: null, endedAt: null },
    disownedBatchIds: ['batch-foreign'],
  });
  const { key } = await getJobRow(db.pool, lost.ref.jobId);
  const { rows } = await db.pool.query(
    `SELECT (SELECT count(*)::int FROM item_outcomes WHERE job_id = $1) AS outcomes, unmatched_lines, warnings,
       (SELECT native_errors FROM batch_provider_metadata WHERE job_id = $1) AS errors
     FROM job_progress WHERE job_id = $1`,
    [key.uuid],
  );
  expect(rows[0]).toMatchObject({
    ...{ outcomes: 0, unmatched_lines: 2, warnings: [{ code: 'foreign_batch', shard: 1 }] },
    errors: [{ code: 'foreign_batch' }],
  });
  // A worker that died after it had disowned the batch does no more when it reads again.
  expect(await lost.ingest()).toMatchObject({ next: 'resubmit', settled: 0 });
  expect((await lost.nextStep()).kind).toBe('resolve');
  expect((await lost.resolve(1)).kind).toBe('look_again');
  const { attemptToken } = await lost.attempt();
  provider.candidates = [nativeBatch('batch-foreign'), nativeBatch('batch-own')];
  expect(await lost.resolve(1)).toEqual({ kind: 'accepted' });
  provider.move('batch-own', { phase: 'ended', end: 'completed', nativeStatus: 'ended' });
  provider.results.set(
    'batch-own',
    [1, 2, 3].map((itemNo) => encodeProviderItemId(attemptToken, itemNo)),
  );
  await lost.poll();
  expect(await lost.ingest()).toMatchObject({ next: 'close', settled: 3, remaining: 0 });
  expect(provider.creates).toHaveLength(1);
});

test('a batch that the create itself named stays the attempt’s own, whatever its lines say', async () => {
  const shard = await shards.newShard();
  await shard.submit();
  const { providerBatchId } = await shard.attempt();
  endForeign(providerBatchId ?? '');
  await shard.poll();
  expect(await shard.ingest()).toMatchObject({ next: 'again', unmatched: 2 });
  expect(await shard.attempt()).toMatchObject({ providerBatchId });
});
