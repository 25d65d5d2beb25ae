import { afterAll, beforeAll, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../harness/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

test('a job goes from draft to settled over HTTP, each result once and the money adding up', async () => {
  const { caller } = await gateway.newTenant();
  const jobId = await caller.submitPrompts(
    Array.from({ length: 25 }, (_, index) => `question ${index}`),
    { execution: { max_items_per_shard: 10 } },
  );
  const job = await caller.ended(jobId);
  expect(job.status).toBe('completed');
  expect(job.counts).toMatchObject({ total: 25, submitted: 25, completed: 25, failed: 0 });
  expect(job.cost.held).toBe('0.00');
  const rows = await caller.results(jobId);
  expect(new Set(rows.map((row) => row.custom_id)).size).toBe(25);
  expect(await gateway.simulator.journal({ route: 'batches.create' })).toHaveLength(3);
  await gateway.expectSound(jobId);
});
