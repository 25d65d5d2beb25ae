import { afterAll, beforeAll, expect, test } from 'vitest';
import { toUuid } from '../../../db/ids.ts';
import { formatAmount, parseAmount } from '../../../domain/money.ts';
import { eventually } from '../../harness/eventually.ts';
import { type Caller, startGateway, type TestGateway } from '../../harness/gateway.ts';
import { attemptTokens, batchesOf, batchOf, openai, prompts } from '../../harness/provider-side.ts';
import { lockRows, type RowLock } from '../../harness/row-lock.ts';
import { soundEnd } from '../../harness/sound-end.ts';
import { GatewayStack } from '../../harness/stack.ts';

const AN_HOUR_MS = 3_600_000;
/** Settled in two transactions. */
const LARGE = 20_000;
/** The worker's heartbeat has to be missed before another takes its work up. */
const RECOVERY_MS = 120_000;

let gateway: TestGateway;
let stack: GatewayStack;
let caller: Caller;
let lock: RowLock | undefined;
let jobs: Record<'creating' | 'polling' | 'downloading' | 'settling' | 'uploading', string>;
/** Items of the large job that had settled when a worker died, after each death. */
const settledAtDeath: number[] = [];

/** Kills a worker twice, each time with jobs at several of their stages, then lets a third one finish them. */
beforeAll(async () => {
  gateway = await startGateway({ workers: false });
  stack = GatewayStack.of(gateway, { BATCHGATE_CREATE_DEADLINE_MS: '25000' });
  caller = (await gateway.newTenant({ limit: '1000' })).caller;
  const { simulator } = gateway;
  const first = await stack.startWorker();
  const polling = await submitPolling();
  const downloading = await submitDownloading();
  const settling = await submitLarge();
  const held = await lockRows(
    gateway.database.db,
    'SELECT FROM batch_items WHERE job_id = $1 AND item_no = $2 FOR UPDATE',
    [toUuid('job', settling), LARGE - 1_000],
  );
  lock = held;
  await eventually(() => held.isWantedBySomeone(), { timeoutMs: 90_000 });
  const creating = await submitInFlight('batches.create');
  settledAtDeath.push((await caller.job(settling)).counts.completed);
  first.signal('SIGKILL');
  await first.ended();
  await simulator.advance(AN_HOUR_MS);

  const second = await stack.startWorker();
  const uploading = await submitInFlight('files.create');
  await eventually(async () => (await downloadsOf(settling)) > 1, { timeoutMs: RECOVERY_MS });
  await eventually(() => held.isWantedBySomeone());
  settledAtDeath.push((await caller.job(settling)).counts.completed);
  second.signal('SIGKILL');
  await second.ended();
  await held.release();
  await simulator.advance(AN_HOUR_MS);
  const { id } = await batchOf(gateway, polling);
  await simulator.batch(id, { stuck: null });
  await stack.startWorker();
  jobs = { creating, polling, downloading, settling, uploading };
}, 400_000);

afterAll(async () => {
  await lock?.release();
  await stack.stop();
  await gateway.stop();
});

async function submitPolling(): Promise<string> {
  await gateway.simulator.faults(openai('batches.create', { stuck: { state: 'in_progress', finished: 1 } }));
  const jobId = await caller.submitPrompts(prompts(3));
  await batchOf(gateway, jobId, (batch) => batch.request_counts.completed === 1);
  return jobId;
}

async function submitDownloading(): Promise<string> {
  const stall = { after_bytes: 100_000, ms: AN_HOUR_MS };
  await gateway.simulator.faults(openai('files.content', { stall }));
  const jobId = await caller.submitPrompts(prompts(1_000));
  await isInFlight('files.content');
  return jobId;
}

/** Its settlement stops in the second of its two transactions, at a row that the test holds. */
async function submitLarge(): Promise<string> {
  const jobId = await caller.createJob();
  const line = (_: unknown, index: number) =>
    JSON.stringify({
      custom_id: `row_${index + 1}`,
      request: { messages: [{ role: 'user', content: `question ${index}` }], max_tokens: 50 },
    });
  const body = Array.from({ length: LARGE }, line).join('\n');
  const headers = { 'content-type': 'application/x-ndjson' };
  const put = await caller.fetch(`/v1/batch-jobs/${jobId}/manifest`, { method: 'PUT', headers, body });
  expect(put.status).toBe(200);
  await caller.submit(jobId);
  return jobId;
}

/** A job whose call has reached the provider and has no answer yet. */
async function submitInFlight(route: 'files.create' | 'batches.create'): Promise<string> {
  await gateway.simulator.faults(openai(route, { delay_ms: AN_HOUR_MS }));
  const jobId = await caller.submitPrompts(prompts(4));
  await isInFlight(route);
  return jobId;
}

async function isInFlight(route: string): Promise<void> {
  await eventually(
    async () => (await gateway.simulator.journal({ route })).some((entry) => entry.fault && entry.ended_at === null),
    { timeoutMs: 60_000 },
  );
}

/** How often the answers of the job's one batch were asked for. */
async function downloadsOf(jobId: string): Promise<number> {
  const { output_file_id: fileId } = await batchOf(gateway, jobId);
  const entries = await gateway.simulator.journal({ route: 'files.content' });
  return entries.filter(({ facts }) => facts['file_id'] === fileId).length;
}

test('X-05: a job whose worker dies twice in the middle of settling ends with each item settled once', {
  timeout: 300_000,
}, async () => {
  const { job } = await soundEnd(gateway, caller, jobs.settling);
  const [first = 0, second] = settledAtDeath;
  expect(first).toBeGreaterThan(0);
  expect(first).toBeLessThan(LARGE);
  expect(second).toBe(first);
  expect(job).toMatchObject({ status: 'completed', counts: { completed: LARGE } });
  expect(await batchesOf(gateway, jobs.settling)).toHaveLength(1);
});

test('X-05: a download cut off by the death of its worker is begun anew', { timeout: 300_000 }, async () => {
  const { job } = await soundEnd(gateway, caller, jobs.downloading);
  expect(job).toMatchObject({ status: 'completed', counts: { completed: 1_000 } });
});

test('a create whose worker died before the answer is found, not repeated', { timeout: 300_000 }, async () => {
  const { job } = await soundEnd(gateway, caller, jobs.creating);
  expect(job).toMatchObject({ status: 'completed', counts: { completed: 4 } });
  expect(await attemptTokens(gateway, jobs.creating)).toHaveLength(1);
  expect(await batchesOf(gateway, jobs.creating)).toHaveLength(1);
});

test('B-01: a worker that dies after the hold and before the submit leaves a job that is submitted once', {
  timeout: 300_000,
}, async () => {
  const { job } = await soundEnd(gateway, caller, jobs.uploading);
  expect(job).toMatchObject({ status: 'completed', counts: { completed: 4 } });
  expect(await batchesOf(gateway, jobs.uploading)).toHaveLength(1);
});

test('a job that was being polled goes on', { timeout: 300_000 }, async () => {
  const { job } = await soundEnd(gateway, caller, jobs.polling);
  expect(job).toMatchObject({ status: 'completed', counts: { completed: 3 } });
});

test('B-02: after all that held and charged add up over the whole tenant', async () => {
  const ended = await Promise.all(Object.values(jobs).map((jobId) => caller.job(jobId)));
  const budget = await caller.budget();
  expect(budget.held).toBe('0.00');
  const charged = ended.reduce((sum, job) => sum + parseAmount(job.cost.settled), 0n);
  expect(budget.settled).toBe(formatAmount(charged));
  expect(await gateway.operator.call('GET', '/v1/operator/ledger/verify')).toMatchObject({ ok: true, differences: [] });
});
