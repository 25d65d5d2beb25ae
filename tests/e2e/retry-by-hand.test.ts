import { afterAll, beforeAll, expect, test } from 'vitest';
import { ANTHROPIC, OPENAI } from '../harness/chat-targets.ts';
import { type JobAnswer, type ResultRow, startGateway, type TestGateway } from '../harness/gateway.ts';
import { openai, prompts } from '../harness/provider-side.ts';
import { soundEnd } from '../harness/sound-end.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

interface Page {
  readonly data: readonly ResultRow[];
  readonly next_cursor: string | null;
}

test('what failed of a job is retried on another provider, and all is read by original; a blocked item is told of', async () => {
  const { caller } = await gateway.newTenant({ limit: '1' });
  const usage = '[[sim:usage=1000,100]]';
  const expiring = { end_state: { status: 'expired' as const, finished: 2 } };
  await gateway.simulator.faults(openai('batches.create', expiring));
  const jobId = await caller.submitPrompts(prompts(4, usage), { model: OPENAI.model });
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'expired', counts: { completed: 2, expired: 2 } });
  const blockedId = await caller.submitPrompts(['[[sim:safety]]', usage], { model: OPENAI.model });
  const path = `/v1/batch-jobs/${jobId}`;
  const body = { model: ANTHROPIC.model, submit: true };
  const retry = await caller.call<JobAnswer>('POST', `${path}/retry`, body);
  const retried = await caller.ended(retry.job_id);
  await gateway.expectSound(retry.job_id);
  expect(retried).toMatchObject({ status: 'completed', counts: { total: 2, completed: 2 } });
  const { data, next_cursor } = await caller.call<Page>('GET', `${path}/results?view=latest`);
  expect(next_cursor).toBeNull();
  const [ours, theirs] = [OPENAI.costOf1000And100, ANTHROPIC.costOf1000And100];
  expect(data.map((row) => [row.custom_id, row.status]).toSorted()).toEqual(
    [1, 2, 3, 4].map((row) => [`row_${row}`, 'completed']),
  );
  expect(data.map((row) => row.cost).toSorted()).toEqual([ours, ours, theirs, theirs].toSorted());

  await caller.ended(blockedId);
  await gateway.expectSound(blockedId);
  const { rows: told } = await gateway.database.db.pool.query(
    `SELECT data FROM events WHERE type = 'batch_job.item_safety_blocked' AND data ->> 'job_id' = $1`,
    [blockedId],
  );
  expect(told).toEqual([{ data: { job_id: blockedId, items: 1, custom_ids: ['row_1'] } }]);
  expect((await caller.budget()).held).toBe('0.00');
  expect(await gateway.operator.call('GET', '/v1/operator/ledger/verify')).toMatchObject({ ok: true });
});
