import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { eventually } from '../harness/eventually.ts';
import { type Caller, startGateway, type TestGateway } from '../harness/gateway.ts';
import { createsOf, gapsBetween, uploadsOf } from '../harness/provider-calls.ts';
import { batchesOf, batchOf, openai, prompts } from '../harness/provider-side.ts';
import { soundEnd } from '../harness/sound-end.ts';

const CAPACITY_RETRY_MS = 100;
const STUCK = { stuck: { state: 'in_progress' as const } };
const QUEUE_FULL = { status: 'failed' as const, errors: [{ code: 'token_limit_exceeded', message: 'queue is full' }] };

/** A shard's items, and a limit that one such shard fits and two do not, as the provider counts and as the gateway does. */
const SHARD_ITEMS = 4;
const LIMIT = 100;
const WORDS = 'one two three four five six seven eight nine ten';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ settings: { capacityRetryMs: CAPACITY_RETRY_MS } });
});
afterEach(async () => {
  await gateway.simulator.clearFaults();
  await setLimit(2_000_000_000);
});
afterAll(() => gateway.stop());

async function setLimit(enqueuedTokenLimit: number): Promise<void> {
  await gateway.simulator.settings({ openai: { enqueuedTokenLimit } });
}

interface OperatorView {
  shards: { shard: number; state: string; item_count: number; waiting: { reason: string } | null }[];
  capacity: {
    provider_model: string;
    full_since: string | null;
    last_reason: string | null;
    known_limit: { input_tokens: number | null };
    in_use: { batches: number; items: number; input_tokens: number };
  }[];
}

function view(jobId: string): Promise<OperatorView> {
  return gateway.operator.call('GET', `/v1/operator/jobs/${jobId}`);
}

/** A job of whole shards. Each test has a model of its own, and so a queue of its own. */
function submitShards(caller: Caller, model: string, shards: number): Promise<string> {
  const execution = { max_items_per_shard: SHARD_ITEMS };
  return caller.submitPrompts(prompts(shards * SHARD_ITEMS, WORDS), { model: `openai/${model}`, execution });
}

async function waitForShards(jobId: string, count: number): Promise<void> {
  await eventually(async () => {
    const { shards } = await view(jobId);
    return shards.filter(({ waiting }) => waiting?.reason === 'provider_capacity').length === count;
  });
}

/** Batches that ran, and those that were made in vain. */
async function batchesByFate(jobId: string): Promise<{ ran: number; refused: number }> {
  const batches = await batchesOf(gateway, jobId);
  const refused = batches.filter(({ status }) => status === 'failed').length;
  return { ran: batches.length - refused, refused };
}

test('shards of which one fits at a time run one after the other, and none is tried before it fits', async () => {
  const { simulator } = gateway;
  const { caller } = await gateway.newTenant();
  await setLimit(LIMIT);
  await simulator.faults(openai('batches.create', STUCK, { times: 'always' }));
  const jobId = await submitShards(caller, 'gpt-4.1-mini', 3);
  await waitForShards(jobId, 2);
  const { refused } = await batchesByFate(jobId);
  expect(refused).toBeLessThanOrEqual(2);
  for (let ran = 1; ran <= 3; ran += 1) {
    const batches = await eventually(async () => {
      const running = (await batchesOf(gateway, jobId)).filter(({ status }) => status === 'in_progress');
      return running.length === 1 ? running : null;
    });
    await waitForShards(jobId, 3 - ran);
    expect(await batchesByFate(jobId)).toEqual({ ran, refused });
    await simulator.batch(batches[0]?.id ?? '', { stuck: null });
  }
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'completed', counts: { completed: 12 }, waiting: null });
  expect(await batchesByFate(jobId)).toEqual({ ran: 3, refused });

  await simulator.clearFaults();
  const next = await submitShards(caller, 'gpt-4.1-mini', 3);
  expect((await soundEnd(gateway, caller, next)).job.counts.completed).toBe(12);
  expect(await createsOf(gateway, next)).toHaveLength(3);
  expect(await uploadsOf(gateway, next)).toHaveLength(3);
});

test('a full queue that names no limit is tried by one shard at a time, each in its turn', async () => {
  const { caller } = await gateway.newTenant();
  await gateway.simulator.faults(openai('batches.create', { end_state: QUEUE_FULL }, { times: 4 }));
  const jobId = await submitShards(caller, 'gpt-4.1', 3);
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'completed', counts: { completed: 12 } });
  expect(await batchesByFate(jobId)).toEqual({ ran: 3, refused: 4 });
  expect(await createsOf(gateway, jobId)).toHaveLength(7);
});

test('a shard that alone exceeds the limit is split, and its halves run one after the other', async () => {
  const { caller } = await gateway.newTenant();
  await setLimit(LIMIT);
  const jobId = await caller.submitPrompts(prompts(2 * SHARD_ITEMS, WORDS), { model: 'openai/gpt-4o' });
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'completed', counts: { completed: 8, failed: 0 }, waiting: null });
  const { shards } = await view(jobId);
  expect(shards.map(({ state, item_count }) => [state, item_count])).toEqual([
    ['superseded', 8],
    ['settled', 4],
    ['settled', 4],
  ]);
  expect(await batchesByFate(jobId)).toEqual({ ran: 2, refused: 1 });
});

test('a shard that is refused again and again with nothing else in the queue is split where no limit is named', async () => {
  const { caller } = await gateway.newTenant();
  await gateway.simulator.faults(openai('batches.create', { end_state: QUEUE_FULL }, { times: 3 }));
  const jobId = await submitShards(caller, 'gpt-5.4', 1);
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'completed', counts: { completed: 4 } });
  expect((await view(jobId)).shards.map(({ item_count }) => item_count)).toEqual([4, 2, 2]);
  expect(await batchesByFate(jobId)).toEqual({ ran: 2, refused: 3 });
  const gaps = gapsBetween((await createsOf(gateway, jobId)).slice(0, 3));
  expect(gaps.every((gapMs) => gapMs >= CAPACITY_RETRY_MS)).toBe(true);
});

test('jobs of several tenants wait visibly for one queue, may be cancelled there, and go in the order they came', async () => {
  const { simulator } = gateway;
  const callers = await Promise.all([1, 2, 3, 4].map(async () => (await gateway.newTenant()).caller));
  const [first, second, third, fourth] = callers as [Caller, Caller, Caller, Caller];
  await setLimit(LIMIT);
  await simulator.faults(openai('batches.create', STUCK));
  const running = await submitShards(first, 'gpt-5.4-mini', 1);
  const { id } = await batchOf(gateway, running, ({ status }) => status === 'in_progress');
  const waiting: string[] = [];
  for (const caller of [second, third, fourth]) {
    const jobId = await submitShards(caller, 'gpt-5.4-mini', 1);
    await waitForShards(jobId, 1);
    waiting.push(jobId);
  }
  const [next = '', dropped = '', last = ''] = waiting;
  expect(await third.job(dropped)).toMatchObject({ status: 'queued', waiting: { reason: 'provider_capacity' } });
  expect((await view(dropped)).capacity).toMatchObject([
    {
      provider_model: 'gpt-5.4-mini',
      full_since: expect.any(String),
      last_reason: expect.stringContaining(`Limit: ${LIMIT} enqueued tokens`),
      known_limit: { input_tokens: LIMIT },
      in_use: { batches: 1, items: SHARD_ITEMS, input_tokens: expect.any(Number) },
    },
  ]);
  // The first of them taught the limit; the others never tried.
  expect(await uploadsOf(gateway, dropped)).toEqual([]);
  await third.cancel(dropped);
  const cancelled = await soundEnd(gateway, third, dropped);
  expect(cancelled.job).toMatchObject({ status: 'cancelled', counts: { cancelled: SHARD_ITEMS } });

  await simulator.batch(id, { stuck: null });
  await Promise.all([
    soundEnd(gateway, first, running),
    soundEnd(gateway, second, next),
    soundEnd(gateway, fourth, last),
  ]);
  expect(await createsOf(gateway, dropped)).toEqual([]);
  expect(await createsOf(gateway, last)).toHaveLength(1);
  const [nextAt = 0, lastAt = 0] = [
    (await createsOf(gateway, next)).at(-1)?.at,
    (await createsOf(gateway, last))[0]?.at,
  ];
  expect(nextAt).toBeLessThan(lastAt);
});
