import { Client, Connection } from '@temporalio/client';
import { afterAll, expect, inject, test } from 'vitest';
import { createJobWorkflows } from '../../api/temporal.ts';
import { newId } from '../../db/ids.ts';
import { batchJobWorkflowId } from '../../workflows/ids.ts';
import { searchAttributes } from '../../workflows/search-attributes.ts';

// Left to the exit of the process, as in the api: closed under a call that nobody waits for any more, it would throw.
const connection = Connection.lazy({ address: inject('temporalAddress') });
const client = new Client({ connection });
const workflows = createJobWorkflows(client);
const started: string[] = [];
afterAll(async () => {
  for (const id of started) await client.workflow.getHandle(id).terminate();
});

function newJob() {
  const jobId = newId('job');
  started.push(batchJobWorkflowId(jobId));
  return {
    jobId,
    submissionNo: 1,
    tenantId: 'acme',
    customerId: 'cust_1',
    model: 'openai/gpt-4o-mini',
    itemCount: 7,
    submittedAt: null,
  };
}

test.concurrent.each([0, 300])(
  'without a worker a submit that waits %i ms is handed over and pending',
  async (waitMs) => {
    const job = newJob();
    expect(await workflows.submit(job, waitMs)).toEqual({ kind: 'pending' });
    const run = await client.workflow.getHandle(batchJobWorkflowId(job.jobId)).describe();
    expect(run.status.name).toBe('RUNNING');
    expect(run.staticSummary).toBeDefined();
    expect(await run.staticSummary?.()).toBe('acme · 7 items · openai/gpt-4o-mini');
    const attributes = run.typedSearchAttributes;
    expect(attributes.get(searchAttributes.tenant)).toBe('acme');
    expect(attributes.get(searchAttributes.customer)).toBe('cust_1');
    expect(attributes.get(searchAttributes.model)).toBe('openai/gpt-4o-mini');
    expect(attributes.get(searchAttributes.status)).toBe('validating');
  },
);

test.concurrent('handed over twice, a submission has one workflow', async () => {
  const job = newJob();
  await workflows.submit(job, 0);
  const first = await client.workflow.getHandle(batchJobWorkflowId(job.jobId)).describe();
  expect(await workflows.submit(job, 0)).toEqual({ kind: 'pending' });
  expect((await client.workflow.getHandle(batchJobWorkflowId(job.jobId)).describe()).runId).toBe(first.runId);
});

test.concurrent('a signal reaches a workflow that runs and misses one that does not, quietly', async () => {
  const job = newJob();
  await workflows.submit(job, 0);
  const wish = { by: 'key_x', reason: 'enough' };
  expect(await workflows.signalCancel(job.jobId, wish)).toBe('signalled');
  expect(await workflows.pollNow(job.jobId, [])).toBe('signalled');
  const unknown = newId('job');
  expect(await workflows.signalCancel(unknown, wish)).toBe('not_running');
  expect(await workflows.pollNow(unknown, [1, 2])).toBe('not_running');
});

test.concurrent('a query nobody answers is null within its limit', async () => {
  const job = newJob();
  await workflows.submit(job, 0);
  const startedAt = performance.now();
  expect(await workflows.queryState(job.jobId)).toBeNull();
  expect(performance.now() - startedAt).toBeLessThan(3_000);
  expect(await workflows.isReachable()).toBe(true);
});
