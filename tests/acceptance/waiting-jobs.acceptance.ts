import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { batchJobWorkflowId } from '../../workflows/ids.ts';
import { pollNowSignal } from '../../workflows/messages.ts';
import { eventually } from '../harness/eventually.ts';
import { type Caller, startGateway, type TestGateway } from '../harness/gateway.ts';
import { batchesOf, openai, prompts } from '../harness/provider-side.ts';
import { type GatewayProcess, GatewayStack } from '../harness/stack.ts';

const isShort = process.env['BATCHGATE_ACCEPTANCE'] === 'short';
const JOBS = isShort ? 20 : 1_000;
const AT_ONCE = 5;
const MAX_MEMORY_BYTES = 512_000_000;
const WITHIN_MS = 1_500_000;

let gateway: TestGateway;
let stack: GatewayStack;
let worker: GatewayProcess;
let caller: Caller;
const jobIds: string[] = [];

/** Jobs whose batches stay open at the provider, all waiting at once on one worker that polls them. */
beforeAll(async () => {
  gateway = await startGateway({ workers: false });
  // Near the pace of production: with a thousand jobs in minutes a faster one would measure polling, not waiting.
  stack = GatewayStack.of(gateway, {
    BATCHGATE_POLL_MIN_MS: '60000',
    BATCHGATE_POLL_MAX_MS: '300000',
    BATCHGATE_LOG_LEVEL: 'warn',
    BATCHGATE_WORKFLOW_BUNDLE: inject('workflowBundle'),
  });
  worker = await stack.startWorker();
  caller = (await gateway.newTenant({ limit: '1000' })).caller;
  await gateway.simulator.faults(openai('batches.create', { stuck: { state: 'in_progress' } }, { times: 'always' }));
  const submit = async () => {
    while (jobIds.length < JOBS) {
      const place = jobIds.push('') - 1;
      jobIds[place] = await submitPatiently();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, submit));
}, WITHIN_MS);

afterAll(async () => {
  await stack.stop();
  await gateway.stop();
}, 120_000);

/** A machine that does all this at once may keep Temporal from answering in time; the job is a draft again then. */
async function submitPatiently(): Promise<string> {
  const jobId = await caller.createJob();
  const item = (content: string, index: number) => ({
    custom_id: `row_${index + 1}`,
    request: { messages: [{ role: 'user', content }], max_tokens: 200 },
  });
  await caller.append(jobId, prompts(2).map(item));
  await eventually(() => caller.submit(jobId), { timeoutMs: WITHIN_MS });
  return jobId;
}

async function countPolled(): Promise<number> {
  const { rows } = await gateway.database.db.pool.query<{ polled: number }>(
    `SELECT count(*)::int AS polled FROM batch_provider_metadata WHERE last_polled_at IS NOT NULL`,
  );
  return rows[0]?.polled ?? 0;
}

test('all of them wait at once, each polled, on one worker', async () => {
  await eventually(async () => (await countPolled()) === JOBS, { timeoutMs: WITHIN_MS });
  const { count } = await gateway.client.workflow.count(`WorkflowType = 'batchJob' AND ExecutionStatus = 'Running'`);
  expect(count).toBe(JOBS);
});

test('the worker never held more than 512 MB', async ({ annotate }) => {
  const [peak, now] = await Promise.all([worker.peakMemoryBytes(), worker.memoryBytes()]);
  await annotate(`${JOBS} waiting jobs: ${Math.round(now / 1e6)} MB now, ${Math.round(peak / 1e6)} MB at most`);
  expect(peak).toBeLessThan(MAX_MEMORY_BYTES);
});

test('a job among them that ends is settled while the others wait on', async () => {
  const [jobId = ''] = jobIds;
  for (const { id } of await batchesOf(gateway, jobId)) await gateway.simulator.batch(id, { stuck: null });
  await gateway.client.workflow.getHandle(batchJobWorkflowId(jobId)).signal(pollNowSignal);
  const job = await caller.ended(jobId, WITHIN_MS);
  expect(job).toMatchObject({ status: 'completed', counts: { completed: 2 } });
  await gateway.expectSound(jobId);
});
