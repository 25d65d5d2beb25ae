import { afterAll, beforeEach, expect, test } from 'vitest';
import { getJobRow } from '../../../db/job-rows.ts';
import type { ResultFile } from '../../../providers/provider.ts';
import { ProviderError, type ProviderErrorCode } from '../../../providers/provider-error.ts';
import { FakeProvider, refusal } from '../../harness/fake-provider.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { createTestShards, type TestShard } from '../../harness/shard-activities.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);

const HOUR_MS = 3_600_000;
/** `waitLimitMs` of the test's settings. */
const CREDENTIAL_WAIT_MS = 60_000;

/** Refuses everything but the create for as long as it is told to. */
class RefusingProvider extends FakeProvider {
  refuses: ProviderErrorCode | null = null;

  override async retrieveBatch(input: { providerBatchId: string }) {
    this.#refuse();
    return super.retrieveBatch(input);
  }
  override async findBatches(input: { attemptToken: string }) {
    this.#refuse();
    return super.findBatches(input);
  }
  override async *downloadFile(input: { file: ResultFile }): AsyncGenerator<Uint8Array> {
    this.#refuse();
    yield* super.downloadFile(input);
  }

  #refuse(): void {
    if (this.refuses !== null) throw refusal(this.refuses);
  }
}

let provider: RefusingProvider;
let clock: { ms: number };
let shards: ReturnType<typeof createTestShards>;
beforeEach(async () => {
  await db.pool.query('UPDATE batch_provider_metadata SET closed_at = now() WHERE closed_at IS NULL');
  provider = new RefusingProvider();
  clock = { ms: Date.now() + HOUR_MS };
  shards = createTestShards(db, provider, { now: () => new Date(clock.ms), random: () => 0 });
});

/** With a window of a day from now. */
async function running(): Promise<{ shard: TestShard; batchId: string }> {
  const shard = await shards.newShard();
  provider.onCreate = async () => ({ expiresAt: new Date(clock.ms + 24 * HOUR_MS) });
  await shard.submit();
  return { shard, batchId: (await shard.attempt()).providerBatchId ?? '' };
}

async function ended(): Promise<TestShard> {
  const { shard, batchId } = await running();
  provider.move(batchId, { phase: 'ended', end: 'completed', nativeStatus: 'completed' });
  provider.results.set(batchId, []);
  await shard.poll();
  return shard;
}

async function waitingOf({ ref }: TestShard): Promise<unknown> {
  const { key } = await getJobRow(db.pool, ref.jobId);
  const { rows } = await db.pool.query('SELECT waiting_reason FROM batch_jobs WHERE job_id = $1', [key.uuid]);
  return rows[0]?.waiting_reason;
}

test('a credential refused at a poll parks the job, and nothing of a batch that runs is given up for it', async () => {
  const { shard, batchId } = await running();
  provider.refuses = 'credential_refused';
  expect(await shard.poll()).toMatchObject({ kind: 'open', waiting: 'credential_refused' });
  expect(await waitingOf(shard)).toBe('credential_refused');
  clock.ms += 2 * CREDENTIAL_WAIT_MS;
  expect((await shard.poll()).kind).toBe('open');
  clock.ms += 24 * HOUR_MS - CREDENTIAL_WAIT_MS - 1;
  expect((await shard.poll()).kind).toBe('open');
  clock.ms += 1;
  expect(await shard.poll()).toMatchObject({ kind: 'lost', close: 'credential_refused' });
  provider.refuses = null;
  provider.move(batchId, { phase: 'ended', end: 'completed', nativeStatus: 'completed' });
  expect((await shard.poll()).kind).toBe('ended');
  expect(await waitingOf(shard)).toBeNull();
});

test('one refused when results are to be read parks the job too, for as long as is waited for a credential', async () => {
  const shard = await ended();
  provider.refuses = 'credential_refused';
  const first = await shard.ingest();
  expect(first).toMatchObject({ next: 'retry', waiting: 'credential_refused' });
  expect(await waitingOf(shard)).toBe('credential_refused');
  clock.ms += CREDENTIAL_WAIT_MS - 1;
  expect((await shard.ingest()).next).toBe('retry');
  clock.ms += 1;
  expect(await shard.ingest()).toMatchObject({ next: 'close', reason: 'credential_refused' });
  provider.refuses = null;
  expect((await shard.ingest()).next).toBe('again');
  expect(await waitingOf(shard)).toBeNull();
});

test('one refused when a batch is to be cancelled parks the job too', async () => {
  const { shard } = await running();
  provider.refuses = 'credential_refused';
  expect(await shard.cancel()).toEqual({ accepted: false });
  expect(await waitingOf(shard)).toBe('credential_refused');
  provider.refuses = null;
  expect(await shard.cancel()).toEqual({ accepted: true });
});

test('one refused when the batch of an unanswered create is looked for parks the job too, and makes no second batch', async () => {
  const shard = await shards.newShard();
  provider.onCreate = async () => {
    throw new ProviderError({ code: 'connection_lost', message: 'lost', isRetryable: true, mayHaveActed: true });
  };
  await shard.submit();
  provider.refuses = 'credential_refused';
  expect((await shard.resolve()).kind).toBe('no_answer');
  expect(await waitingOf(shard)).toBe('credential_refused');
  clock.ms += CREDENTIAL_WAIT_MS + HOUR_MS;
  expect((await shard.resolve()).kind).toBe('no_answer');
  clock.ms += 24 * HOUR_MS;
  expect(await shard.resolve()).toEqual({ kind: 'close', reason: 'credential_refused' });
  expect(provider.creates).toHaveLength(1);
});

test('one refused at a submit parks the job, until it is waited for no longer', async () => {
  const shard = await shards.newShard();
  provider.onUpload = async () => {
    throw refusal('credential_refused');
  };
  expect(await shard.submit()).toMatchObject({ kind: 'wait', reason: 'credential_refused', giveUp: null });
  expect(await waitingOf(shard)).toBe('credential_refused');
  clock.ms += CREDENTIAL_WAIT_MS;
  expect(await shard.submit()).toMatchObject({ kind: 'wait', giveUp: 'credential_refused' });
});

test('a tenant waits for a credential as long as its own policy says, as it is at each look', async () => {
  const policy = async (credentialWaitMs: number | null) =>
    db.pool.query('UPDATE tenants SET policy = $1', [{ credential_wait_ms: credentialWaitMs }]);
  const sent = await ended();
  const unsent = await shards.newShard();
  await policy(2 * CREDENTIAL_WAIT_MS);
  provider.refuses = 'credential_refused';
  provider.onUpload = async () => {
    throw refusal('credential_refused');
  };
  await Promise.all([sent.ingest(), unsent.submit()]);
  clock.ms += CREDENTIAL_WAIT_MS;
  expect((await sent.ingest()).next).toBe('retry');
  expect(await unsent.submit()).toMatchObject({ kind: 'wait', giveUp: null });
  await policy(null);
  expect(await sent.ingest()).toMatchObject({ next: 'close', reason: 'credential_refused' });
  expect(await unsent.submit()).toMatchObject({ kind: 'wait', giveUp: 'credential_refused' });
});

test.each(['unavailable', 'timed_out', 'connection_lost', 'malformed_reply'] as const)(
  'results that cannot be read for hours (%s) are tried for again ever less often, and not without end',
  async (code) => {
    const shard = await ended();
    provider.refuses = code;
    const delays: number[] = [];
    const until = clock.ms + 6 * HOUR_MS;
    while (clock.ms < until) {
      const result = await shard.ingest();
      // What is denied for as long as a lost batch is taken from what the last poll said.
      if (result.next !== 'retry') throw new Error(`after ${delays.length} readings: ${JSON.stringify(result)}`);
      delays.push(result.delayMs);
      clock.ms += result.delayMs;
    }
    expect(await waitingOf(shard)).toBe('provider_trouble');
    expect(delays[0]).toBeLessThan(1_000);
    expect(delays.toSorted((one, other) => one - other)).toEqual(delays);
    expect(delays.at(-1)).toBe(HOUR_MS / 2);
    expect(delays.length).toBeLessThan(60);
    clock.ms += 72 * HOUR_MS;
    expect(await shard.ingest()).toMatchObject({ next: 'close', reason: 'lost' });
  },
);

test('a batch that finalizes without end is shown as overdue once its window is over, and lost two days later', async () => {
  const { shard, batchId } = await running();
  provider.move(batchId, { phase: 'finalizing', nativeStatus: 'finalizing' });
  clock.ms += 24 * HOUR_MS;
  expect(await shard.poll()).toMatchObject({ kind: 'open', nativeStatus: 'finalizing' });
  expect(await waitingOf(shard)).toBeNull();
  clock.ms += HOUR_MS;
  expect(await shard.poll()).toMatchObject({ kind: 'open', waiting: 'batch_overdue' });
  expect(await waitingOf(shard)).toBe('batch_overdue');
  expect(await shard.row()).toMatchObject({ state: 'finalizing' });
  clock.ms += 47 * HOUR_MS;
  expect(await shard.poll()).toMatchObject({ kind: 'lost', mayRun: true });
  provider.move(batchId, { phase: 'ended', end: 'completed', nativeStatus: 'completed' });
  expect((await shard.poll()).kind).toBe('ended');
  expect(await waitingOf(shard)).toBeNull();
});
