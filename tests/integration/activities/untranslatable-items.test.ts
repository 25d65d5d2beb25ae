import { afterAll, beforeEach, expect, test } from 'vitest';
import { settleRejectedLines } from '../../../activities/rejected-lines.ts';
import { getJobRow } from '../../../db/job-rows.ts';
import { UntranslatableRequest } from '../../../providers/untranslatable-request.ts';
import { FakeProvider, nativeBatch } from '../../harness/fake-provider.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { createTestShards, type TestShard } from '../../harness/shard-activities.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);

let provider: FakeProvider;
let shards: ReturnType<typeof createTestShards>;
beforeEach(() => {
  provider = new FakeProvider();
  shards = createTestShards(db, provider);
});

/** Items whose request has a seed cannot be put to the provider. */
function refuseSeeds() {
  provider.onEncode = ({ request }) => {
    if ('seed' in request) throw new UntranslatableRequest('request.seed', 'The provider has no seed.');
  };
}

function withSeed(...items: number[]): (itemNo: number) => Record<string, unknown> {
  const request = { messages: [{ role: 'user', content: 'hello' }], max_tokens: 100 };
  return (itemNo) => (items.includes(itemNo) ? { ...request, seed: 7 } : request);
}

async function outcomes({ ref }: TestShard) {
  const { key } = await getJobRow(db.pool, ref.jobId);
  const { rows } = await db.pool.query(
    `SELECT o.item_no, o.failure_class, o.error_code, o.amount::float8 AS amount, r.error_message
     FROM item_outcomes o JOIN item_results r USING (job_id, item_no) WHERE o.job_id = $1 ORDER BY item_no`,
    [key.uuid],
  );
  return rows;
}

test('items that the provider cannot be asked fail alone, free of charge, and the others are sent', async () => {
  refuseSeeds();
  const shard = await shards.newShard({ items: 5, body: withSeed(2, 4) });
  expect(await shard.submit()).toEqual({ kind: 'accepted' });
  expect(provider.encoded.map(({ providerItemId }) => providerItemId.split('-')[1])).toEqual(['1', '3', '5']);
  expect(provider.creates).toMatchObject([{ itemCount: 3 }]);
  expect((await shard.attempt()).itemCount).toBe(3);
  const failed = { failure_class: 'validation', error_code: 'invalid_request', amount: 0 };
  const message = { error_message: 'request.seed: The provider has no seed.' };
  expect(await outcomes(shard)).toEqual([
    { item_no: 2, ...failed, ...message },
    { item_no: 4, ...failed, ...message },
  ]);
  // The lines of the input are those of the items that are in it.
  const job = await getJobRow(db.pool, shard.ref.jobId);
  const reading = { job, shard: await shard.row(), attempt: await shard.attempt() };
  const error = { code: 'invalid', message: 'no', line: 2, param: null };
  const refused = nativeBatch('b', { phase: 'ended', end: 'failed', validationErrors: [error] });
  await settleRejectedLines(db, reading, refused);
  expect((await outcomes(shard)).map(({ item_no }) => item_no)).toEqual([2, 3, 4]);
});

test('a shard of which nothing can be sent ends without an upload', async () => {
  refuseSeeds();
  const shard = await shards.newShard({ items: 2, body: withSeed(1, 2) });
  expect(await shard.submit()).toEqual({ kind: 'close', reason: 'rejected' });
  expect([provider.inputs, provider.creates]).toEqual([[], []]);
  expect(await shard.attempt()).toMatchObject({ createOutcome: 'not_sent' });
  expect(await shard.close('cancelled')).toEqual({ closed: 0 });
  expect(await outcomes(shard)).toHaveLength(2);
});

test('any other fault in encoding is no fault of the item', async () => {
  provider.onEncode = () => {
    throw new Error('broken');
  };
  const shard = await shards.newShard();
  await expect(shard.submit()).rejects.toThrow('broken');
  expect(await outcomes(shard)).toEqual([]);
});

test.each([
  ['a reply without a cap is held to what was held for it', {}, 2_048],
  ['a reply that is reasoned is held to more', { reasoning_effort: 'high' }, 8_192],
  ['several choices are each held to it', { n: 3 }, 2_048],
  ['a cap of its own changes nothing', { max_tokens: 5 }, 2_048],
])('%s', async (_rule, request, expected) => {
  const body = () => ({ messages: [{ role: 'user', content: 'hello' }], ...request });
  const shard = await shards.newShard({ items: 1, body });
  await shard.submit();
  expect(provider.encoded.map(({ defaultMaxOutputTokens }) => defaultMaxOutputTokens)).toEqual([expected]);
});
