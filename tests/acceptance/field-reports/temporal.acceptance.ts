import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createMaintenanceActivities } from '../../../activities/maintenance.ts';
import type { JournalEntry } from '../../../simulators/journal.ts';
import { createJobWorkflowControl } from '../../../worker/job-workflow-control.ts';
import { batchJobWorkflowId, providerBatchWorkflowId } from '../../../workflows/ids.ts';
import { runActivity, testDependencies } from '../../harness/activities.ts';
import { CHAT } from '../../harness/endpoints.ts';
import { eventually } from '../../harness/eventually.ts';
import { type Caller, type LedgerAnswer, startGateway, type TestGateway } from '../../harness/gateway.ts';
import { batchesOf, batchOf, openai, prompts } from '../../harness/provider-side.ts';
import { soundEnd, submitHalfDone } from '../../harness/sound-end.ts';
import { type Event, payloadBytes, readEvents } from '../../workflows/read-history.ts';

const MIB = 1024 * 1024;
const HOUR_MS = 3_600_000;
const SECRET = 'Wolpertinger';
/** Heartbeats leave a worker every five seconds; the rest is for a busy machine. */
const HEARD_WITHIN_MS = 15_000;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterEach(() => gateway.simulator.clearFaults());
afterAll(() => gateway.stop());

/** The histories of a job: its own, and its shards'. */
async function historiesOf(jobId: string, shards = 1): Promise<Event[][]> {
  const ids = Array.from({ length: shards }, (_, index) => providerBatchWorkflowId(jobId, index + 1));
  return Promise.all([batchJobWorkflowId(jobId), ...ids].map((id) => readEvents(gateway.client, id)));
}

/** All that can be read in a history, payloads included. */
function textOf(events: readonly Event[]): string {
  return JSON.stringify(events, (_, value) => {
    if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
    return typeof value === 'bigint' ? String(value) : value;
  });
}

/** A signal that arrives while a run is ending makes the server ask once more, which is no failure. */
function isTaskFailure({ workflowTaskFailedEventAttributes: failed }: Event): boolean {
  return Boolean(failed) && failed?.failure?.message !== 'UnhandledCommand';
}

function expectSlim(histories: readonly Event[][]): void {
  for (const events of histories) {
    expect(events.length).toBeGreaterThan(5);
    expect(events.filter(isTaskFailure)).toEqual([]);
    expect(Math.max(...payloadBytes(events))).toBeLessThan(4_096);
    expect(payloadBytes(events).reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(64 * 1024);
    expect(textOf(events)).not.toContain(SECRET);
  }
}

async function callTo(route: string, fact: (entry: JournalEntry) => boolean): Promise<JournalEntry> {
  return eventually(async () => (await gateway.simulator.journal({ route })).findLast(fact), { timeoutMs: 20_000 });
}

const isUnderWay = ({ ended_at }: JournalEntry): boolean => ended_at === null;

async function submitManifest(caller: Caller, items: readonly object[], options = {}): Promise<string> {
  const jobId = await caller.createJob(options);
  const body = items.map((item) => JSON.stringify(item)).join('\n');
  const headers = { 'content-type': 'application/x-ndjson' };
  const response = await caller.fetch(`/v1/batch-jobs/${jobId}/manifest`, { method: 'PUT', body, headers });
  expect(response.status).toBe(200);
  await caller.submit(jobId);
  return jobId;
}

/** The reconcile sweep as it runs a minute from now: younger submissions are still being handed over. */
async function sweep(): Promise<{ started: number; signalled: number; failed: number }> {
  const workflows = createJobWorkflowControl(gateway.client);
  const now = () => new Date(Date.now() + 60_000);
  const { recoverJobs } = createMaintenanceActivities(testDependencies(gateway.database.db, { workflows, now }));
  return runActivity(recoverJobs, undefined);
}

const item = (no: number, text: string, maxTokens = 1_000) => ({
  custom_id: `row_${no}`,
  request: { ...CHAT.request(text), max_tokens: maxTokens },
});

test('X-01: an item of several megabytes and its answer of several more pass by the histories', async () => {
  const { caller } = await gateway.newTenant();
  const text = `${SECRET} ${'x'.repeat(7 * MIB)} [[sim:chars=${4 * MIB}]]`;
  const jobId = await submitManifest(caller, [item(1, text, 2 * MIB)]);
  const { job, rows } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'completed', counts: { completed: 1 } });
  expect(JSON.stringify(rows[0]?.result).length).toBeGreaterThan(4 * MIB);
  expectSlim(await historiesOf(jobId));
});

test('X-01: thousands of items with long answers, cut into shards, leave short histories', async () => {
  const { caller } = await gateway.newTenant();
  const items = Array.from({ length: 3_000 }, (_, index) => item(index + 1, `${SECRET} [[sim:chars=2000]]`));
  const jobId = await submitManifest(caller, items, { execution: { max_items_per_shard: 1_000 } });
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'completed', counts: { completed: 3_000 } });
  const histories = await historiesOf(jobId, 3);
  expectSlim(histories);
  // The number of polls depends on how fast the machine is; what is promised is this, whatever the number of items.
  expect(Math.max(...histories.map((events) => events.length))).toBeLessThan(500);
});

test('X-01: what a provider says when it fails stays out of the histories', async () => {
  const { simulator } = gateway;
  const { caller } = await gateway.newTenant();
  const words = { status: 500, body: { error: { message: `${SECRET} broke`, code: SECRET } } };
  await simulator.faults(
    openai('files.create', { ...words, status: 503 }),
    openai('batches.create', { ...words, status: 429 }),
    openai('batches.retrieve', words),
    openai('batches.retrieve', { status: 200, body: { error: { message: SECRET } } }),
    openai('files.content', words),
    openai('files.content', { status: 200, body: `<html>${SECRET}</html>`, headers: { 'content-type': 'text/html' } }),
  );
  const jobId = await caller.submitPrompts(prompts(2, SECRET));
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job.status).toBe('completed');
  expect(await simulator.remainingFaults()).toEqual([]);
  expectSlim(await historiesOf(jobId));
});

test('X-04: a cancel stops an upload that would take an hour, and no batch is made', async () => {
  const { simulator } = gateway;
  const { caller } = await gateway.newTenant();
  await simulator.faults(openai('files.create', { delay_ms: HOUR_MS }));
  // The larger the file, the longer an upload may take before it is given up for another reason.
  const jobId = await submitManifest(caller, [item(1, 'x'.repeat(7 * MIB))]);
  await callTo('files.create', isUnderWay);
  const askedAt = performance.now();
  await caller.cancel(jobId);
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(performance.now() - askedAt).toBeLessThan(HEARD_WITHIN_MS);
  expect(job).toMatchObject({ status: 'cancelled', counts: { cancelled: 1 }, cancel: { outcome: 'effective' } });
  expect(await batchesOf(gateway, jobId)).toEqual([]);
  await callTo('files.create', (entry) => !isUnderWay(entry));
});

test('X-04: a download that stands still is cut off and read again, a cancel meanwhile keeps what is paid for', async () => {
  const { caller } = await gateway.newTenant();
  await gateway.simulator.faults(openai('files.content', { stall: { after_bytes: 100, ms: HOUR_MS } }));
  const jobId = await caller.submitPrompts(prompts(4));
  const stalled = await callTo('files.content', isUnderWay);
  await caller.cancel(jobId);
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'completed', counts: { completed: 4 }, cancel: { outcome: 'too_late' } });
  await callTo('files.content', ({ seq, ended_at }) => seq === stalled.seq && ended_at !== null);
});

test('X-04: a worker that is told to stop leaves a long download, and the next one brings all of it in', async () => {
  const { caller } = await gateway.newTenant();
  await gateway.simulator.faults(openai('files.content', { chunk_bytes: 20, chunk_delay_ms: 500 }));
  const jobId = await caller.submitPrompts(prompts(20));
  const slow = await callTo('files.content', isUnderWay);
  const toldAt = performance.now();
  await gateway.restartWorkers();
  expect(performance.now() - toldAt).toBeLessThan(2 * HEARD_WITHIN_MS);
  await callTo('files.content', ({ seq, ended_at }) => seq === slow.seq && ended_at !== null);
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'completed', counts: { completed: 20 } });
});

test('X-07: cancelling, submitting and polling a job that has ended change nothing and are no error', async () => {
  const { caller } = await gateway.newTenant();
  const jobId = await caller.submitPrompts(prompts(2));
  const { job } = await soundEnd(gateway, caller, jobId);
  const workflow = gateway.client.workflow.getHandle(batchJobWorkflowId(jobId));
  await eventually(async () => (await workflow.describe()).status.name === 'COMPLETED');
  const post = async (path: string, by = caller) => (await by.fetch(path, { method: 'POST' })).status;
  expect(await post(`/v1/batch-jobs/${jobId}/cancel`)).toBe(200);
  expect(await post(`/v1/batch-jobs/${jobId}/submit`)).toBe(200);
  expect(await post(`/v1/operator/jobs/${jobId}/poll-now`, gateway.operator)).toBe(202);
  expect(await caller.job(jobId)).toEqual(job);
});

test('X-07: many cancels at once are one request', async () => {
  const { caller } = await gateway.newTenant();
  const jobId = await submitHalfDone(gateway, caller, { total: 4, finished: 1 });
  const asked = await Promise.all(
    Array.from({ length: 6 }, () => caller.fetch(`/v1/batch-jobs/${jobId}/cancel`, { method: 'POST' })),
  );
  expect(asked.map(({ status }) => status)).toEqual(Array(6).fill(202));
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'cancelled', counts: { completed: 1, cancelled: 3 } });
  const ledger = `/v1/batch-jobs/${jobId}/ledger?level=job&limit=100`;
  const { data } = await caller.call<{ data: LedgerAnswer[] }>('GET', ledger);
  expect(data.filter(({ event }) => event === 'batch.cancel_requested')).toHaveLength(1);
});

test('X-07: starting a job again that is running starts nothing and harms nothing', async () => {
  const { caller } = await gateway.newTenant();
  const jobId = await submitHalfDone(gateway, caller, { total: 3, finished: 1 });
  expect(await sweep()).toEqual({ started: 0, signalled: 0, failed: 0 });
  for (const { id } of await batchesOf(gateway, jobId)) await gateway.simulator.batch(id, { stuck: null });
  expect((await soundEnd(gateway, caller, jobId)).job.status).toBe('completed');
  expect(await batchesOf(gateway, jobId)).toHaveLength(1);
});

test('X-10: the largest append and the longest metadata start a workflow with next to nothing, which can be cancelled and ended', async () => {
  const { caller } = await gateway.newTenant();
  await gateway.simulator.faults(openai('batches.create', { stuck: { state: 'in_progress', finished: 1 } }));
  const metadata = Object.fromEntries(
    Array.from({ length: 16 }, (_, no) => [`${no}`.padEnd(64, 'k'), 'v'.repeat(512)]),
  );
  const jobId = await caller.createJob({ metadata, name: 'n'.repeat(200) });
  const longId = (no: number) => `${no}`.padStart(512, 'i');
  const items = Array.from({ length: 4 }, (_, no) => ({ ...item(no, 'x'.repeat(7.9 * MIB)), custom_id: longId(no) }));
  await caller.append(jobId, items);
  await caller.submit(jobId);
  const workflow = gateway.client.workflow.getHandle(batchJobWorkflowId(jobId));
  const events = await readEvents(gateway.client, batchJobWorkflowId(jobId));
  expect(Math.max(...payloadBytes(events.slice(0, 1)))).toBeLessThan(1_024);
  await batchOf(gateway, jobId, (batch) => batch.request_counts.completed === 1);
  await workflow.terminate('by hand');
  await caller.cancel(jobId);
  expect((await sweep()).started).toBe(1);
  const job = await caller.ended(jobId, 60_000);
  expect(job).toMatchObject({ status: 'cancelled', counts: { completed: 1, cancelled: 3 } });
  await gateway.expectSound(jobId);
  expectSlim(await historiesOf(jobId));
});
