import { afterAll, beforeEach, expect, test } from 'vitest';
import type { LabelledBatch, NativeBatch } from '../../../providers/provider.ts';
import { fixedAdapters } from '../../../providers/provider-adapters.ts';
import { ProviderError } from '../../../providers/provider-error.ts';
import { FakeProvider, nativeBatch, refusal } from '../../harness/fake-provider.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { createTestShards, type TestShard } from '../../harness/shard-activities.ts';
import { findings, sweeper } from './sweep-fixture.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);

const NONE = { looked: 0, repaired: 0, raised: 0, failed: 0 };
const LOST = new ProviderError({ code: 'connection_lost', message: 'lost', isRetryable: true, mayHaveActed: true });

/** A provider that lists what it has, and notes what it is asked to cancel. */
class ListingProvider extends FakeProvider {
  readonly cancelled: string[] = [];
  listed: LabelledBatch[] = [];
  onCancel: () => void = () => undefined;

  override listLabelled: FakeProvider['listLabelled'] = async () => this.listed;

  override async cancelBatch({ providerBatchId }: { providerBatchId: string }): Promise<NativeBatch> {
    this.cancelled.push(providerBatchId);
    this.onCancel();
    return nativeBatch(providerBatchId, { phase: 'cancelling', nativeStatus: 'cancelling' });
  }
}

let provider: ListingProvider;
let clock: { ms: number };
let shards: ReturnType<typeof createTestShards>;
let sweep: ReturnType<typeof sweeper>;
beforeEach(async () => {
  await db.pool.query("UPDATE batch_provider_metadata SET closed_at = now(), create_outcome = 'refused'");
  await db.pool.query('DELETE FROM sweep_findings');
  provider = new ListingProvider();
  clock = { ms: Date.now() + 3_600_000 };
  const now = () => new Date(clock.ms);
  shards = createTestShards(db, provider, { now, random: () => 0 });
  sweep = sweeper(db, { now, providers: fixedAdapters(new Map([['openai', provider]])) });
});

async function accepted(): Promise<TestShard> {
  provider.onCreate = async () => ({});
  const shard = await shards.newShard();
  expect(await shard.submit()).toEqual({ kind: 'accepted' });
  return shard;
}

/** Its create went unanswered, and two looks found nothing. */
async function givenUp(): Promise<TestShard> {
  provider.onCreate = async () => {
    throw LOST;
  };
  const shard = await shards.newShard();
  expect((await shard.submit()).kind).toBe('unknown');
  await shard.resolve(1);
  expect(await shard.resolve(2)).toEqual({ kind: 'not_found' });
  clock.ms += 60_000;
  return shard;
}

async function list(shard: TestShard, id: string, change: Partial<NativeBatch> = {}): Promise<void> {
  provider.listed.push({ attemptToken: (await shard.attempt()).attemptToken, batch: nativeBatch(id, change) });
}

test('a batch that shows itself after its create was given up is cancelled and reported', async () => {
  const shard = await givenUp();
  await list(shard, 'batch-late');
  expect(await sweep('sweepSurplus')).toEqual({ ...NONE, looked: 1, repaired: 1 });
  expect(provider.cancelled).toEqual(['batch-late']);
  expect(await findings(db)).toMatchObject([
    {
      ...{ kind: 'surplus_batch', outcome: 'repaired', subject: 'openai/batch-late', jobId: shard.ref.jobId },
      facts: { shard: 1, attempt: 1, create_outcome: 'not_found', native_status: 'cancelling', cancel: 'asked' },
    },
  ]);
  // Once it has ended, it is known.
  provider.listed = [];
  await list(shard, 'batch-late', { phase: 'ended', end: 'cancelled', nativeStatus: 'cancelled' });
  expect(await sweep('sweepSurplus')).toEqual({ ...NONE, looked: 1 });
  expect(provider.cancelled).toEqual(['batch-late']);
});

test('of two batches under one token the one that the attempt has goes on', async () => {
  const shard = await accepted();
  clock.ms += 60_000;
  await list(shard, (await shard.attempt()).providerBatchId ?? '');
  await list(shard, 'batch-second');
  expect(await sweep('sweepSurplus')).toEqual({ ...NONE, looked: 2, repaired: 1 });
  expect(provider.cancelled).toEqual(['batch-second']);
});

test('a batch of an unanswered create, of a stranger’s token or seen too early is never touched', async () => {
  const early = await accepted();
  await list(early, 'batch-early');
  provider.onCreate = async () => {
    throw LOST;
  };
  const unanswered = await shards.newShard();
  await unanswered.submit();
  await list(unanswered, 'batch-possible');
  provider.listed.push({ attemptToken: '0'.repeat(26), batch: nativeBatch('batch-foreign') });
  expect(await sweep('sweepSurplus')).toEqual({ ...NONE, looked: 3 });
  expect(provider.cancelled).toEqual([]);
  expect(await findings(db)).toEqual([]);
});

test('a surplus batch that has ended is raised once, for what it may have cost', async () => {
  const shard = await givenUp();
  await list(shard, 'batch-done', { phase: 'ended', end: 'completed', nativeStatus: 'completed' });
  expect(await sweep('sweepSurplus')).toEqual({ ...NONE, looked: 1, raised: 1 });
  expect(await sweep('sweepSurplus')).toEqual({ ...NONE, looked: 1 });
  expect(provider.cancelled).toEqual([]);
  expect(await findings(db)).toMatchObject([{ kind: 'surplus_batch', outcome: 'raised', times: 1 }]);
});

test('a cancel that is refused is raised, and tried again by the next sweep', async () => {
  const shard = await givenUp();
  await list(shard, 'batch-stubborn');
  provider.onCancel = () => {
    throw refusal('unavailable');
  };
  expect(await sweep('sweepSurplus')).toEqual({ ...NONE, looked: 1, raised: 1 });
  provider.onCancel = () => undefined;
  expect(await sweep('sweepSurplus')).toEqual({ ...NONE, looked: 1, repaired: 1 });
  expect(provider.cancelled).toEqual(['batch-stubborn', 'batch-stubborn']);
});

test('a provider that cannot list its batches is passed over until the next sweep', async () => {
  provider.listLabelled = async () => {
    throw refusal('unavailable');
  };
  expect(await sweep('sweepSurplus')).toEqual({ ...NONE, failed: 1 });
});

test('where batches carry no label, one that may be of a create given up is raised once and left alone', async () => {
  provider.listLabelled = null;
  const owner = await accepted();
  const shard = await givenUp();
  provider.candidates = [nativeBatch((await owner.attempt()).providerBatchId ?? ''), nativeBatch('batch-maybe')];
  expect(await sweep('sweepSurplus')).toMatchObject({ raised: 1, failed: 0 });
  expect(await sweep('sweepSurplus')).toMatchObject({ raised: 0 });
  expect(provider.cancelled).toEqual([]);
  expect(await findings(db)).toMatchObject([
    { kind: 'possible_surplus_batch', outcome: 'raised', subject: 'openai/batch-maybe', jobId: shard.ref.jobId },
  ]);
});

test('while another create is unanswered such a batch may be that one’s, and nothing is said', async () => {
  provider.listLabelled = null;
  await givenUp();
  provider.onCreate = async () => {
    throw LOST;
  };
  const unanswered = await shards.newShard();
  await unanswered.submit();
  provider.candidates = [nativeBatch('batch-whose')];
  expect(await sweep('sweepSurplus')).toMatchObject({ raised: 0, failed: 0 });
});
