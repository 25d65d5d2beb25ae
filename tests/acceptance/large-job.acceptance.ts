import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { batchJobWorkflowId, providerBatchWorkflowId } from '../../workflows/ids.ts';
import { Caller, type JobAnswer, startGateway, type TestGateway } from '../harness/gateway.ts';
import { batchesOf } from '../harness/provider-side.ts';
import { type GatewayProcess, GatewayStack } from '../harness/stack.ts';

const isShort = process.env['BATCHGATE_ACCEPTANCE'] === 'short';
const ITEMS = isShort ? 20_000 : 200_000;
const SHARDS = 4;
const MAX_MEMORY_BYTES = 512_000_000;
const MAX_HISTORY_EVENTS = 500;
const WITHIN_MS = 1_500_000;

let gateway: TestGateway;
let stack: GatewayStack;
let api: GatewayProcess;
let worker: GatewayProcess;
let caller: Caller;
let jobId: string;
let ended: JobAnswer;

/** One job from manifest to settled, through processes as they run in production. */
beforeAll(async () => {
  gateway = await startGateway({ workers: false });
  stack = GatewayStack.of(gateway);
  [api, worker] = await Promise.all([stack.startApi(), stack.startWorker()]);
  const tenant = await gateway.newTenant({ limit: '1000' });
  caller = new Caller(api.url, tenant.caller.key);
  jobId = await caller.createJob({ execution: { max_items_per_shard: ITEMS / SHARDS } });
  await upload();
  await caller.submit(jobId);
  ended = await caller.ended(jobId, WITHIN_MS);
}, WITHIN_MS + 120_000);

afterAll(async () => {
  await stack.stop();
  await gateway.stop();
}, 120_000);

function* manifest(): Generator<string> {
  for (let number = 1; number <= ITEMS; number += 1) {
    const request = { messages: [{ role: 'user', content: `What is ${number} times two?` }], max_tokens: 60 };
    yield `${JSON.stringify({ custom_id: `row_${number}`, request })}\n`;
  }
}

async function upload(): Promise<void> {
  const body = Readable.toWeb(Readable.from(manifest(), { objectMode: false, highWaterMark: 1024 * 1024 }));
  const response = await caller.fetch(`/v1/batch-jobs/${jobId}/manifest`, {
    method: 'PUT',
    headers: { 'content-type': 'application/x-ndjson' },
    body: body as ReadableStream,
    duplex: 'half',
  } as RequestInit);
  expect(await response.json()).toMatchObject({ total: ITEMS });
}

test('every item of the large job is completed, in as few batches as there are shards', async () => {
  expect(ended).toMatchObject({ status: 'completed', counts: { total: ITEMS, completed: ITEMS } });
  expect(await batchesOf(gateway, jobId)).toHaveLength(SHARDS);
});

test('its results stream whole, each item once', async () => {
  const response = await caller.fetch(`/v1/batch-jobs/${jobId}/results`, {
    headers: { accept: 'application/x-ndjson' },
  });
  const seen = new Uint8Array(ITEMS + 1);
  const body = Readable.fromWeb(response.body as Parameters<typeof Readable.fromWeb>[0]);
  for await (const line of createInterface({ input: body })) {
    const row = JSON.parse(line) as { custom_id: string; status: string };
    const number = Number(row.custom_id.slice('row_'.length));
    seen[number] = (seen[number] ?? 0) + 1;
  }
  expect(seen.subarray(1).every((times) => times === 1)).toBe(true);
});

test('its money adds up to the last unit', async () => {
  const operator = new Caller(api.url, gateway.operator.key);
  const report = await operator.call('GET', `/v1/operator/ledger/verify?job_id=${jobId}`);
  expect(report).toMatchObject({ ok: true, items: ITEMS, differences: [] });
  expect(await operator.call('GET', '/v1/operator/ledger/verify')).toMatchObject({ ok: true, differences: [] });
  expect(ended.cost.held).toBe('0.00');
  await gateway.expectSound(jobId);
});

test('no workflow of it has a long history', async () => {
  const ids = [
    batchJobWorkflowId(jobId),
    ...Array.from({ length: SHARDS }, (_, index) => providerBatchWorkflowId(jobId, index + 1)),
  ];
  for (const id of ids) {
    let runs = 0;
    for await (const run of gateway.client.workflow.list({ query: `WorkflowId = '${id}'` })) {
      runs += 1;
      const { historyLength } = await gateway.client.workflow.getHandle(id, run.runId).describe();
      expect(historyLength).toBeLessThan(MAX_HISTORY_EVENTS);
    }
    expect(runs).toBeGreaterThan(0);
  }
});

test('neither process ever held more than 512 MB', async ({ annotate }) => {
  const [ofApi, ofWorker] = await Promise.all([api.peakMemoryBytes(), worker.peakMemoryBytes()]);
  await annotate(`peak memory: api ${Math.round(ofApi / 1e6)} MB, worker ${Math.round(ofWorker / 1e6)} MB`);
  expect(ofApi).toBeLessThan(MAX_MEMORY_BYTES);
  expect(ofWorker).toBeLessThan(MAX_MEMORY_BYTES);
});
