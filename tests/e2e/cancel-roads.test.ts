import { WorkflowNotFoundError } from '@temporalio/client';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { batchJobWorkflowId } from '../../workflows/ids.ts';
import { eventually } from '../harness/eventually.ts';
import { type JobAnswer, startGateway, type TestGateway } from '../harness/gateway.ts';
import { batchesOf, prompts } from '../harness/provider-side.ts';
import { soundEnd, submitHalfDone } from '../harness/sound-end.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ settings: { shardWindow: 2 } });
});
afterEach(() => gateway.simulator.clearFaults());
afterAll(() => gateway.stop());

function workflowOf(jobId: string) {
  return gateway.client.workflow.getHandle(batchJobWorkflowId(jobId));
}

async function workflowEnds(jobId: string): Promise<void> {
  await eventually(async () => (await workflowOf(jobId).describe()).status.name === 'COMPLETED');
}

async function countEvents(jobId: string, type: string): Promise<number> {
  const { rows } = await gateway.database.db.pool.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM events WHERE type = $1 AND data ->> 'job_id' = $2`,
    [type, jobId],
  );
  return rows[0]?.count ?? 0;
}

test.each([
  { road: 'a signal without a payload', send: (jobId: string) => workflowOf(jobId).signal('cancel'), by: 'signal' },
  {
    road: 'a signal with a reason',
    send: (jobId: string) => workflowOf(jobId).signal('cancel', { by: 'ops', reason: 'wrong model' }),
    by: 'ops',
  },
  {
    road: 'a signal with a payload that makes no sense',
    send: (jobId: string) => workflowOf(jobId).signal('cancel', ['?']),
    by: 'signal',
  },
  { road: "Temporal's own cancel", send: (jobId: string) => workflowOf(jobId).cancel(), by: 'temporal' },
])('$road cancels the job as the api does', async ({ send, by }) => {
  const { caller } = await gateway.newTenant();
  const jobId = await submitHalfDone(gateway, caller, { total: 5, finished: 2 });
  await send(jobId);
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({
    status: 'cancelled',
    counts: { completed: 2, cancelled: 3 },
    cancel: { outcome: 'partial', by },
  });
  expect((await caller.ledger(jobId)).get('batch.cancel_requested')).toMatchObject({ actor: by });
  await workflowEnds(jobId);
});

test('a cancelled draft ends at once, holds nothing and can neither be filled nor submitted', async () => {
  const { caller } = await gateway.newTenant();
  const jobId = await caller.createJob();
  await caller.append(jobId, [{ custom_id: 'a', request: { messages: [{ role: 'user', content: 'hi' }] } }]);
  const answer = await caller.fetch(`/v1/batch-jobs/${jobId}/cancel`, { method: 'POST', json: {} });
  expect(answer.status).toBe(200);
  expect(await answer.json()).toMatchObject({ status: 'cancelled', cancel: { outcome: 'effective' } });
  const submit = await caller.fetch(`/v1/batch-jobs/${jobId}/submit`, { method: 'POST' });
  expect(submit.status).toBe(409);
  const more = [{ custom_id: 'b', request: {} }];
  const append = await caller.fetch(`/v1/batch-jobs/${jobId}/items`, { method: 'POST', json: { items: more } });
  expect(append.status).toBe(409);
  expect(await caller.budget()).toMatchObject({ held: '0.00', settled: '0.00' });
});

test('a job cancelled before its verdict ends cancelled and has held and sent nothing', async () => {
  const { caller } = await gateway.newTenant();
  const jobId = await caller.createJob();
  await caller.append(
    jobId,
    prompts(3).map((content, index) => ({
      custom_id: `row_${index + 1}`,
      request: { messages: [{ role: 'user', content }] },
    })),
  );
  await gateway.stopWorkers();
  const submit = await caller.fetch(`/v1/batch-jobs/${jobId}/submit`, {
    method: 'POST',
    headers: { prefer: 'wait=1' },
  });
  expect(submit.status).toBe(202);
  expect(await submit.json()).toMatchObject({ status: 'validating' });
  const asked = await caller.fetch(`/v1/batch-jobs/${jobId}/cancel`, { method: 'POST', json: {} });
  expect(asked.status).toBe(202);
  await gateway.startWorkers();
  const job = await caller.ended(jobId);
  expect(job).toMatchObject({
    ...{ status: 'cancelled', counts: { total: 3, cancelled: 3 } },
    ...{ cancel: { outcome: 'effective' }, cost: { reserved: '0.00' } },
  });
  expect(await caller.budget()).toMatchObject({ held: '0.00', settled: '0.00' });
  expect(await batchesOf(gateway, jobId)).toEqual([]);
});

test('cancels at once and one after the other are one cancel', async () => {
  const { caller } = await gateway.newTenant();
  const jobId = await submitHalfDone(gateway, caller, { total: 5, finished: 2 });
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, index) =>
      caller.fetch(`/v1/batch-jobs/${jobId}/cancel`, { method: 'POST', json: { reason: `reason ${index}` } }),
    ),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
  const reasons = await Promise.all(answers.map(async (answer) => ((await answer.json()) as JobAnswer).cancel?.reason));
  expect(new Set(reasons).size).toBe(1);
  await workflowOf(jobId).cancel();
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'cancelled', counts: { completed: 2, cancelled: 3 } });
  expect(job.cancel?.reason).toBe(reasons[0]);
  expect(await countEvents(jobId, 'batch_job.cancel_requested')).toBe(1);
  expect(await countEvents(jobId, 'batch_job.cancelled')).toBe(1);
});

test('a cancel after the end changes nothing, whichever road it takes', async () => {
  const { caller } = await gateway.newTenant();
  const jobId = await caller.submitPrompts(prompts(3));
  const { job } = await soundEnd(gateway, caller, jobId);
  const answer = await caller.fetch(`/v1/batch-jobs/${jobId}/cancel`, { method: 'POST', json: {} });
  expect(answer.status).toBe(200);
  expect(await answer.json()).toEqual(job);
  await workflowEnds(jobId);
  await expect(workflowOf(jobId).signal('cancel')).rejects.toThrow(WorkflowNotFoundError);
  expect(await caller.job(jobId)).toEqual(job);
});

test('a cancel reaches every shard, also those that have not been sent', async () => {
  const { caller } = await gateway.newTenant();
  await gateway.simulator.faults({
    provider: 'openai',
    route: 'batches.create',
    times: 'always',
    action: { stuck: { state: 'in_progress', finished: 1 } },
  });
  const jobId = await caller.submitPrompts(prompts(8), { execution: { max_items_per_shard: 2 } });
  await eventually(async () => (await caller.job(jobId)).progress?.completed === 2);
  await caller.cancel(jobId);
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'cancelled', counts: { completed: 2, cancelled: 6 } });
  expect(await batchesOf(gateway, jobId)).toHaveLength(2);
});
