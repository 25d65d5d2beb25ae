import { afterAll, beforeEach, expect, test } from 'vitest';
import { getJobRow } from '../../../db/job-rows.ts';
import { listOperatorActs } from '../../../db/operator-acts.ts';
import { findUnmatchedLines } from '../../../db/operator-job.ts';
import { chooseBatch, disownCandidates, markGivenUp, requestReread } from '../../../db/shard-marks.ts';
import { encodeProviderItemId } from '../../../domain/attempt-token.ts';
import { verifyLedger } from '../../../ledger/verify.ts';
import type { LineResult, ResultFile } from '../../../providers/provider.ts';
import { ProviderError, type ProviderErrorCode } from '../../../providers/provider-error.ts';
import { FakeProvider, nativeBatch, refusal } from '../../harness/fake-provider.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { createTestShards, type TestShard } from '../../harness/shard-activities.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);

/** Lines are ids of items that were answered, or `failed <id>`; an error file may fail to come. */
class OddProvider extends FakeProvider {
  readonly cancels: string[] = [];
  cancelRefusal: ProviderErrorCode | null = null;
  errorFile: string[] | ProviderErrorCode = [];

  override async cancelBatch(input: { providerBatchId: string }) {
    this.cancels.push(input.providerBatchId);
    if (this.cancelRefusal !== null) throw refusal(this.cancelRefusal);
    return this.retrieveBatch(input);
  }

  override resultFiles({ providerBatchId: fileId }: { providerBatchId: string }) {
    return (['output', 'error'] as const).map((kind) => ({ kind, fileId })) as ReturnType<FakeProvider['resultFiles']>;
  }

  override async *downloadFile({ file }: { file: ResultFile }): AsyncGenerator<Uint8Array> {
    if (file.kind === 'output') return yield* super.downloadFile({ file });
    if (typeof this.errorFile === 'string') throw refusal(this.errorFile);
    for (const line of this.errorFile) yield Buffer.from(`${line}\n`);
  }

  override decodeLine(endpoint: string, line: string) {
    if (!line.startsWith('failed ')) return super.decodeLine(endpoint, line);
    const usage = { inputTokens: 10, outputTokens: 5 };
    const failed = { kind: 'failed', class: 'provider_error', code: 'provider_server_error', message: 'no', usage };
    const result = { ...failed, nativeType: null, nativeCode: null, statusCode: 500 } as unknown as LineResult;
    return { kind: 'result' as const, providerItemId: line.slice('failed '.length), result };
  }
}

let provider: OddProvider;
let clock: { ms: number };
let shards: ReturnType<typeof createTestShards>;
beforeEach(async () => {
  await db.pool.query('UPDATE batch_provider_metadata SET closed_at = now() WHERE closed_at IS NULL');
  provider = new OddProvider();
  // Later than anything that the database dates by itself.
  clock = { ms: Date.now() + 3_600_000 };
  shards = createTestShards(db, provider, { now: () => new Date(clock.ms), random: () => 0 });
});

const keyOf = async ({ ref }: TestShard) => (await getJobRow(db.pool, ref.jobId)).key;
const actsOf = async (shard: TestShard) => listOperatorActs(db.pool, (await keyOf(shard)).uuid);

async function giveUp(shard: TestShard): Promise<void> {
  expect(await markGivenUp(db.pool, await keyOf(shard), [1], new Date(clock.ms))).toEqual([1]);
}

async function running(): Promise<{ shard: TestShard; batchId: string; id: (itemNo: number) => string }> {
  const shard = await shards.newShard();
  await shard.submit();
  const { providerBatchId, attemptToken } = await shard.attempt();
  return { shard, batchId: providerBatchId ?? '', id: (itemNo) => encodeProviderItemId(attemptToken, itemNo) };
}

/** An attempt whose create was sent and never answered. */
async function unanswered(): Promise<TestShard> {
  const shard = await shards.newShard();
  provider.onCreate = async () => {
    throw new ProviderError({ code: 'connection_lost', message: 'lost', isRetryable: true, mayHaveActed: true });
  };
  expect((await shard.submit()).kind).toBe('unknown');
  return shard;
}

async function endsOf(shard: TestShard): Promise<[itemNo: number, end: string][]> {
  const { uuid } = await keyOf(shard);
  const { rows } = await db.pool.query<{ item_no: number; error_code: string }>(
    'SELECT item_no, error_code FROM item_outcomes WHERE job_id = $1 ORDER BY item_no',
    [uuid],
  );
  return rows.map(({ item_no, error_code }) => [item_no, error_code === '' ? 'completed' : error_code]);
}

function end(batchId: string, lines: string[]): void {
  provider.move(batchId, { phase: 'ended', end: 'completed', nativeStatus: 'completed' });
  provider.results.set(batchId, lines);
}

test('what was read of the results of a shard given up is kept and charged, and the rest is given up, free', async () => {
  const { shard, batchId, id } = await running();
  end(batchId, [id(1), `failed ${id(2)}`]);
  provider.errorFile = 'unavailable';
  await shard.poll();
  expect(await shard.ingest()).toMatchObject({ next: 'retry', waiting: 'provider_trouble' });
  await giveUp(shard);
  expect(await shard.ingest()).toMatchObject({ next: 'resubmit', delayMs: 0, waiting: null });
  expect(await shard.nextStep()).toEqual({ kind: 'close', reason: 'given_up' });
  for (const _time of ['first', 'again']) await shard.close('given_up');
  expect(await endsOf(shard)).toEqual([
    [1, 'completed'],
    [2, 'provider_server_error'],
    [3, 'given_up'],
  ]);
  const { uuid } = await keyOf(shard);
  const { rows } = await db.pool.query(
    'SELECT count(*)::int AS charged FROM ledger_entries WHERE subject_id = $1 AND amount > 0 AND item_no > 0',
    [uuid],
  );
  expect(rows[0]).toEqual({ charged: 2 });
  expect((await verifyLedger(db, { jobId: shard.ref.jobId })).differences).toEqual([]);
});

test('nothing is sent or asked any more for a shard that was given up, at whatever it was', async () => {
  const planned = await shards.newShard();
  await giveUp(planned);
  expect(await planned.nextStep()).toEqual({ kind: 'close', reason: 'given_up' });
  const { shard, batchId } = await running();
  await giveUp(shard);
  provider.batches.delete(batchId);
  expect(await shard.poll()).toMatchObject({ kind: 'open', readRows: true });
  expect(await shard.nextStep()).toEqual({ kind: 'close', reason: 'given_up' });
  const lost = await unanswered();
  await giveUp(lost);
  // Its create may still be on its way: only then can it be looked for.
  expect(await lost.nextStep()).toMatchObject({ kind: 'resolve' });
  clock.ms += 10_000;
  expect(await lost.resolve()).toEqual({ kind: 'not_found' });
  expect(await lost.nextStep()).toEqual({ kind: 'close', reason: 'given_up' });
  expect(provider.creates).toHaveLength(2);
});

test.each([
  ['asked', null],
  ['not_taken', 'unavailable'],
  ['not_taken', 'credential_refused'],
] as const)('the cancel of a batch that is abandoned is on record: %s (%s)', async (cancel, error) => {
  const { shard, batchId } = await running();
  provider.cancelRefusal = error;
  expect(await shard.abandon()).toEqual({ asked: error === null });
  expect(provider.cancels).toEqual([batchId]);
  const details = { provider_batch_id: batchId, cancel };
  expect(await actsOf(shard)).toMatchObject([{ act: 'gave_up', actor: 'gateway', details }]);
});

test('the batch of an unanswered create is looked for before it is abandoned, and only a sure one is cancelled', async () => {
  const found = await unanswered();
  provider.candidates = [provider.move('batch-found', {})];
  expect(await found.abandon()).toEqual({ asked: true });
  expect(provider.cancels).toEqual(['batch-found']);
  const doubtful = await unanswered();
  provider.candidates = [provider.move('batch-1', {}), provider.move('batch-2', {})];
  expect(await doubtful.abandon()).toEqual({ asked: false });
  expect(provider.cancels).toHaveLength(1);
  expect(await actsOf(doubtful)).toMatchObject([{ details: { provider_batch_id: null, cancel: 'no_batch' } }]);
});

test('results that come too late change no outcome and no charge: they are kept apart, once, and shown', async () => {
  const { shard, batchId, id } = await running();
  end(batchId, [id(1)]);
  await shard.poll();
  await shard.ingest();
  await shard.close('batch_completed');
  const before = await endsOf(shard);
  expect(before.map(([, code]) => code)).toEqual(['completed', 'missing_result', 'missing_result']);
  end(batchId, [id(1), id(2), 'somebody-else-1']);
  provider.errorFile = [`failed ${id(3)}`];
  const key = await keyOf(shard);
  for (const late of [2, 0]) {
    await requestReread(db.pool, key, [1], new Date(clock.ms));
    expect(await shard.nextStep()).toEqual({ kind: 'settled', reread: true });
    expect(await shard.reread()).toEqual({ late });
    expect(await shard.nextStep()).toEqual({ kind: 'settled' });
  }
  expect(await endsOf(shard)).toEqual(before);
  const { lines } = await findUnmatchedLines(db.pool, key.uuid);
  expect(lines.map(({ file, line, reason }) => [file, line, reason])).toEqual([
    [1, 3, 'names no item of this batch'],
    [101, 2, 'came after item 2 had ended as missing_result'],
    [102, 1, 'came after item 3 had ended as missing_result'],
  ]);
  const { rows } = await db.pool.query('SELECT unmatched_lines, warnings FROM job_progress WHERE job_id = $1', [
    key.uuid,
  ]);
  expect(rows[0]).toMatchObject({ unmatched_lines: 3 });
  expect(JSON.stringify(rows[0]?.warnings)).toContain('late_results');
  expect(await actsOf(shard)).toMatchObject(
    [2, 0].map((late) => ({ act: 're_ingested', details: { batches: [{ outcome: 'read', late_lines: late }] } })),
  );
  expect((await verifyLedger(db, { jobId: shard.ref.jobId })).differences).toEqual([]);
});

test.each([
  ['unavailable', 'unavailable'],
  ['credential_refused', 'credential_refused'],
] as const)(
  'a reading that the provider does not allow (%s) says so, and can be asked for again',
  async (error, outcome) => {
    const { shard, batchId } = await running();
    end(batchId, []);
    await shard.poll();
    await shard.close('batch_completed');
    provider.errorFile = error;
    await requestReread(db.pool, await keyOf(shard), [1], new Date(clock.ms));
    expect(await shard.reread()).toEqual({ late: 0 });
    expect(await actsOf(shard)).toMatchObject([{ details: { batches: [{ outcome, late_lines: 0 }] } }]);
    expect((await shard.row()).rereadRequestedAt).toBeNull();
  },
);

test('a batch chosen by hand is taken once the provider shows it, and is still disowned by results of another', async () => {
  const shard = await unanswered();
  provider.candidates = [nativeBatch('batch-a'), nativeBatch('batch-b')];
  expect(await shard.resolve()).toMatchObject({ kind: 'indeterminate', candidates: 2 });
  provider.move('batch-b', { progress: { total: 3, completed: 0, failed: 0 } });
  await chooseBatch(db.pool, await keyOf(shard), await shard.attempt(), 'batch-b');
  expect(await shard.resolve()).toEqual({ kind: 'accepted' });
  expect(await shard.attempt()).toMatchObject({ providerBatchId: 'batch-b', foundByLook: true, chosenBatchId: null });
  expect(await actsOf(shard)).toMatchObject([{ details: { provider_batch_id: 'batch-b', outcome: 'adopted' } }]);
  expect(provider.creates).toHaveLength(1);
});

test.each(['unknown_to_provider', 'another_size', 'another_input_file', 'of_another_attempt'] as const)(
  'a chosen batch is not taken when it is %s, and the shard stays as it was',
  async (objection) => {
    const owner = await running();
    const shard = await unanswered();
    const chosen = objection === 'of_another_attempt' ? owner.batchId : 'batch-chosen';
    if (objection === 'another_size') provider.move(chosen, { progress: { total: 4, completed: 0, failed: 0 } });
    if (objection === 'another_input_file') provider.move(chosen, { inputFileId: 'file-other' });
    await chooseBatch(db.pool, await keyOf(shard), await shard.attempt(), chosen);
    provider.candidates = [nativeBatch('batch-1'), nativeBatch('batch-2')];
    expect(await shard.resolve()).toMatchObject({ kind: 'indeterminate', candidates: 2 });
    expect(await shard.attempt()).toMatchObject({ providerBatchId: null, chosenBatchId: null, closedAt: null });
    expect(await actsOf(shard)).toMatchObject([{ act: 'resolved', details: { outcome: 'not_adopted', objection } }]);
  },
);

test('batches ruled out by hand are none of the next attempt’s either', async () => {
  const shard = await unanswered();
  const key = await keyOf(shard);
  await disownCandidates(db.pool, key, await shard.attempt(), ['batch-a', 'batch-b']);
  await db.pool.query(
    "UPDATE batch_provider_metadata SET closed_at = now(), create_outcome = 'not_found' WHERE job_id = $1",
    [key.uuid],
  );
  expect((await shard.submit()).kind).toBe('unknown');
  expect(await shard.attempt()).toMatchObject({ attempt: 2, disownedBatchIds: ['batch-a', 'batch-b'] });
  provider.candidates = [nativeBatch('batch-a'), nativeBatch('batch-own')];
  expect(await shard.resolve()).toEqual({ kind: 'accepted' });
  expect(await shard.attempt()).toMatchObject({ providerBatchId: 'batch-own' });
});
