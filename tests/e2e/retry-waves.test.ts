import { afterAll, beforeAll, expect, test } from 'vitest';
import { ANTHROPIC, atEach, GEMINI, OPENAI } from '../harness/chat-targets.ts';
import { eventually } from '../harness/eventually.ts';
import { type Caller, type ResultRow, startGateway, type TestGateway } from '../harness/gateway.ts';

let gateway: TestGateway;
let caller: Caller;
beforeAll(async () => {
  gateway = await startGateway();
  ({ caller } = await gateway.newTenant());
});
afterAll(() => gateway.stop());

type RetriedRow = ResultRow & {
  item_id: string;
  retry_of_item_id: string | null;
  retried_by_item_id: string | null;
};

const AT_ONCE = { initial_seconds: 0 };

test('items that fail once complete in the second wave, are paid once, and all of it adds up, at each provider', async () => {
  await atEach([OPENAI, ANTHROPIC, GEMINI], async ({ provider, model }) => {
    const prompts = [
      `${provider} plain`,
      `${provider} breaks [[sim:error=server_error]][[sim:once]]`,
      `${provider} breaks too [[sim:error=server_error]][[sim:once]]`,
      `${provider} is missing [[sim:missing]][[sim:once]]`,
      `${provider} is refused [[sim:invalid]]`,
    ];
    const jobId = await caller.submitPrompts(prompts, { model, retry_policy: { max_attempts: 3, backoff: AT_ONCE } });
    const job = await caller.ended(jobId, 60_000);
    expect(job).toMatchObject({ status: 'completed_with_errors', failures: { validation: 1 } });
    expect(job.counts).toMatchObject({ total: 5, completed: 4, failed: 1, expired: 0, cancelled: 0, retries: 3 });
    expect(job.cost.held).toBe('0.00');
    await gateway.expectSound(jobId);

    const rows = (await caller.results(jobId)) as RetriedRow[];
    expect(rows).toHaveLength(8);
    expect(Number(job.cost.settled)).toBeCloseTo(
      rows.reduce((sum, { cost }) => sum + Number(cost), 0),
      12,
    );
    const byId = new Map(rows.map((row) => [row.item_id, row]));
    const retries = rows.filter((row) => row.retry_of_item_id !== null);
    expect(retries.map((row) => row.custom_id).toSorted()).toEqual(['row_2', 'row_3', 'row_4']);
    for (const retry of retries) {
      const original = byId.get(retry.retry_of_item_id ?? '');
      expect(retry).toMatchObject({ status: 'completed', retried_by_item_id: null });
      expect(Number(retry.cost)).toBeGreaterThan(0);
      expect(original).toMatchObject({
        custom_id: retry.custom_id,
        status: 'failed',
        cost: '0.00',
        retried_by_item_id: retry.item_id,
      });
    }
    const item = await caller.call<RetriedRow>('GET', `/v1/batch-jobs/${jobId}/items/row_4`);
    const first = rows.find(isFirstTryOf('row_4'));
    expect(item).toMatchObject({
      status: 'completed',
      retry_of_item_id: first?.item_id,
      retry_chain: [
        { item_id: first?.item_id, name: 'row_4', attempt: 1, status: 'failed', cost: '0.00' },
        { item_id: item.item_id, name: 'row_4.retry_1', attempt: 2, status: 'completed', error: null, cost: item.cost },
      ],
    });
  });
});

function isFirstTryOf(customId: string) {
  return (row: RetriedRow): boolean => row.custom_id === customId && row.retry_of_item_id === null;
}

test('a job that waits for its next wave says so, and a cancel ends it by its truth', async () => {
  const prompts = ['fine', 'broken for good [[sim:error=server_error]]'];
  const backoff = { initial_seconds: 3_600 };
  const jobId = await caller.submitPrompts(prompts, { retry_policy: { max_attempts: 2, backoff } });
  await eventually(async () => (await caller.job(jobId)).waiting?.reason === 'retry_backoff', { timeoutMs: 30_000 });
  expect(await caller.job(jobId)).toMatchObject({
    status: 'running',
    counts: { completed: 1, failed: 1 },
    retry_policy: { max_attempts: 2, backoff: { initial_seconds: 3_600, factor: 2, max_seconds: 3_600 } },
  });
  await caller.cancel(jobId);
  const job = await caller.ended(jobId);
  expect(job).toMatchObject({ status: 'completed_with_errors', waiting: null, cancel: { outcome: 'too_late' } });
  expect(job.counts).toMatchObject({ completed: 1, failed: 1, retries: 0 });
  await gateway.expectSound(jobId);
});
