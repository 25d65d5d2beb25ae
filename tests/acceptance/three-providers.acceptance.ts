import { Readable } from 'node:stream';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Fault } from '../../simulators/faults.ts';
import { Caller, startGateway, type TestGateway } from '../harness/gateway.ts';
import { GatewayStack } from '../harness/stack.ts';

const isShort = process.env['BATCHGATE_ACCEPTANCE'] === 'short';
/** Cut by the providers' own limits; the short case cuts a smaller job in as many shards by a limit of its own. */
const ITEMS = isShort ? 6_000 : 120_000;
const WITHIN_MS = 900_000;

/** How each provider says that its queue is full. */
const QUEUE_FULL: { readonly [provider in 'openai' | 'anthropic' | 'gemini']: Fault['action'] } = {
  openai: {
    end_state: {
      status: 'failed',
      errors: [{ code: 'token_limit_exceeded', message: 'Enqueued token limit reached for gpt-5.6-luna.' }],
    },
  },
  anthropic: {
    status: 429,
    body: {
      type: 'error',
      error: { type: 'rate_limit_error', message: 'The number of queued batch requests would exceed your limit.' },
      request_id: 'req_1',
    },
  },
  gemini: {
    status: 429,
    body: {
      error: {
        code: 429,
        message: 'The limit of enqueued tokens for batches of this model is reached.',
        status: 'RESOURCE_EXHAUSTED',
      },
    },
  },
};

const CASES = [
  { provider: 'openai', model: 'gpt-5.6-luna', shards: 3, shortLimit: 2_000 },
  { provider: 'anthropic', model: 'claude-haiku-5-5', shards: 2, shortLimit: 3_001 },
  { provider: 'gemini', model: 'gemini-3.5-flash-lite', shards: 2, shortLimit: 3_000 },
] as const;

let gateway: TestGateway;
let stack: GatewayStack;
let caller: Caller;
beforeAll(async () => {
  gateway = await startGateway({ workers: false });
  stack = GatewayStack.of(gateway);
  const [api] = await Promise.all([stack.startApi(), stack.startWorker()]);
  const tenant = await gateway.newTenant({ limit: '10000' });
  caller = new Caller(api.url, tenant.caller.key);
}, 120_000);
afterEach(() => gateway.simulator.clearFaults());
afterAll(async () => {
  await stack.stop();
  await gateway.stop();
}, 120_000);

function* manifest(): Generator<string> {
  for (let number = 1; number <= ITEMS; number += 1) {
    const request = { messages: [{ role: 'user', content: `What is ${number} plus one?` }], max_tokens: 60 };
    yield `${JSON.stringify({ custom_id: `tenantA.sums.row ${number}`, request })}\n`;
  }
}

async function submitted(model: string, maxItemsPerShard: number): Promise<string> {
  const jobId = await caller.createJob({
    model,
    ...(isShort && { execution: { max_items_per_shard: maxItemsPerShard } }),
  });
  const body = Readable.toWeb(Readable.from(manifest(), { objectMode: false, highWaterMark: 1024 * 1024 }));
  const response = await caller.fetch(`/v1/batch-jobs/${jobId}/manifest`, {
    method: 'PUT',
    headers: { 'content-type': 'application/x-ndjson' },
    body: body as ReadableStream,
    duplex: 'half',
  } as RequestInit);
  expect(await response.json()).toMatchObject({ total: ITEMS });
  await caller.submit(jobId);
  return jobId;
}

interface OperatorAnswer {
  shards: { item_count: number; batches: { provider_batch_id: string | null; create_outcome: string | null }[] }[];
}

test.each(CASES)(
  '$provider: the job is cut into $shards shards, waits out a full queue, and every item ends once',
  async ({ provider, model, shards: expected, shortLimit }) => {
    await gateway.simulator.faults({ provider, route: 'batches.create', times: 2, action: QUEUE_FULL[provider] });
    const jobId = await submitted(`${provider}/${model}`, shortLimit);
    const ended = await caller.ended(jobId, WITHIN_MS);
    expect(ended).toMatchObject({
      status: 'completed',
      counts: { total: ITEMS, completed: ITEMS, failed: 0, expired: 0, cancelled: 0 },
    });
    expect(ended.cost.held).toBe('0.00');
    const operator = new Caller(gateway.url, gateway.operator.key);
    const { shards } = await operator.call<OperatorAnswer>('GET', `/v1/operator/jobs/${jobId}`);
    expect(shards.map(({ item_count }) => item_count).reduce((sum, items) => sum + items, 0)).toBe(ITEMS);
    expect(shards).toHaveLength(expected);
    if (provider === 'anthropic') expect(new Set(shards.map(({ item_count }) => item_count)).size).toBe(expected);
    await gateway.expectSound(jobId);
  },
  WITHIN_MS + 120_000,
);
