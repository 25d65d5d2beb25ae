import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { parseAmount } from '../../domain/money.ts';
import type { Fault } from '../../simulators/faults.ts';
import type { JournalEntry } from '../../simulators/journal.ts';
import { eventually } from '../harness/eventually.ts';
import { type Caller, startGateway, TEST_WEBHOOK_SECRET, type TestGateway } from '../harness/gateway.ts';
import { batchOf, openai } from '../harness/provider-side.ts';
import { soundEnd, submitHalfDone } from '../harness/sound-end.ts';

/** No job of this file is polled a second time by the clock. */
const POLL_MS = 3_600_000;
const LATE_MS = 600_000;
/** Of a batch's whole life: one look at once, one when the event comes, one more while its results are brought home. */
const ALL_LOOKS = 3;

let gateway: TestGateway;
let path: string;
beforeAll(async () => {
  gateway = await startGateway({ settings: { pollMinMs: POLL_MS, pollMaxMs: POLL_MS } });
  path = `${gateway.url}/provider-webhooks/openai`;
  const webhooks = { webhookUrl: path, webhookSecret: TEST_WEBHOOK_SECRET, webhookRetryBaseMs: 50 };
  await gateway.simulator.settings({ openai: webhooks });
});
afterEach(() => gateway.simulator.clearFaults());
afterAll(() => gateway.stop());

interface Running {
  readonly jobId: string;
  readonly batchId: string;
}

/** A job whose batch stays in progress until `finish`, and whose events meet the fault given. */
async function running(caller: Caller, action?: Fault['action']): Promise<Running> {
  const jobId = await submitHalfDone(gateway, caller, { total: 4, finished: 1 });
  const { id: batchId } = await batchOf(gateway, jobId);
  if (action !== undefined) await gateway.simulator.faults(eventFault(batchId, action));
  return { jobId, batchId };
}

function eventFault(batchId: string, action: Fault['action']): Fault {
  return openai('webhook:deliver', action, { match: { batch_id: batchId } });
}

async function finish(...jobs: readonly Running[]): Promise<void> {
  for (const { batchId } of jobs) await gateway.simulator.batch(batchId, { stuck: null });
}

async function looksAt({ batchId }: Running): Promise<number> {
  return (await entriesOf('batches.retrieve', batchId)).length;
}

/** What the gateway answered to each delivery of the batch's event, in their order. */
async function answersTo({ batchId }: Running): Promise<(number | null)[]> {
  return (await entriesOf('webhook:deliver', batchId)).map(({ status }) => status);
}

async function entriesOf(route: string, batchId: string): Promise<JournalEntry[]> {
  const entries = await gateway.simulator.journal({ route });
  return entries.filter(({ facts }) => facts['batch_id'] === batchId);
}

async function chargesOf(caller: Caller, jobId: string): Promise<unknown[]> {
  const answer = await caller.call<{ data: { event: string }[] }>(
    'GET',
    `/v1/batch-jobs/${jobId}/ledger?level=item&limit=100`,
  );
  return answer.data.filter(({ event }) => event === 'batch.item.settled');
}

/** An event that OpenAI could have signed, whether or not it is true. */
async function tell(id: string, type: string, batchId: string): Promise<number> {
  const body = JSON.stringify({ id: 'evt_told', object: 'event', created_at: 1, type, data: { id: batchId } });
  const sentAt = new Date();
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1000)),
    'webhook-signature': new Webhook(TEST_WEBHOOK_SECRET).sign(id, sentAt, body),
  };
  return (await fetch(path, { method: 'POST', headers, body })).status;
}

test('a job whose next poll is an hour away ends when the event of its batch comes', async () => {
  const { caller } = await gateway.newTenant();
  const job = await running(caller);
  expect(await looksAt(job)).toBe(1);
  await finish(job);
  expect((await soundEnd(gateway, caller, job.jobId)).job).toMatchObject({
    status: 'completed',
    counts: { completed: 4 },
  });
  expect(await looksAt(job)).toBe(ALL_LOOKS);
  expect(await answersTo(job)).toEqual([200]);
});

test('M-01: fifty reads at once, an event and a poll, as a job ends and after it, change no sum', async () => {
  const { caller } = await gateway.newTenant();
  const job = await running(caller);
  const readBudget = async () => {
    const { limit, held, settled, available } = await caller.budget();
    expect(parseAmount(held) + parseAmount(settled) + parseAmount(available)).toBe(parseAmount(limit));
  };
  const reads = [
    readBudget,
    () => caller.job(job.jobId),
    () => caller.results(job.jobId),
    () => caller.call('GET', `/v1/batch-jobs/${job.jobId}/usage`),
    () => caller.call('GET', `/v1/batch-jobs/${job.jobId}/ledger`),
  ];
  const pollNow = () => gateway.operator.call('POST', `/v1/operator/jobs/${job.jobId}/poll-now`);
  const fiftyReads = () => Array.from({ length: 10 }, () => reads).flatMap((each) => each.map((read) => read()));
  await Promise.all([...fiftyReads(), finish(job), pollNow()]);
  const { job: ended } = await soundEnd(gateway, caller, job.jobId);
  expect(ended).toMatchObject({ status: 'completed', counts: { completed: 4 } });
  const budget = await caller.budget();
  await Promise.all([...fiftyReads(), tell('evt_again', 'batch.completed', job.batchId), pollNow()]);
  expect(await caller.job(job.jobId)).toEqual(ended);
  expect(await caller.budget()).toEqual(budget);
  expect(await chargesOf(caller, job.jobId)).toHaveLength(4);
  await gateway.expectSound(job.jobId);
});

test('W-04: doubled, badly signed, stale and late events end each job once, and no ended batch is polled', async () => {
  const { caller } = await gateway.newTenant();
  const { operator, simulator } = gateway;
  const doubled = await running(caller, { doubled: true });
  const badlySigned = await running(caller, { bad_signature: true });
  const stale = await running(caller, { timestamp_shift_s: -600 });
  const early = await running(caller, { timestamp_shift_s: 600 });
  const late = await running(caller, { delay_ms: LATE_MS });
  const lost = await running(caller, { lost: true });
  // The first to end is the last to be told of.
  await finish(late, doubled, badlySigned, stale, early, lost);
  for (const job of [doubled, badlySigned, stale, early]) {
    expect((await soundEnd(gateway, caller, job.jobId)).job.status).toBe('completed');
    expect(await looksAt(job)).toBe(ALL_LOOKS);
  }
  await eventually(async () => (await answersTo(doubled)).length === 2);
  expect(await answersTo(doubled)).toEqual([200, 200]);
  for (const job of [badlySigned, stale, early]) expect(await answersTo(job)).toEqual([400, 200]);

  for (const job of [late, lost]) {
    expect(await looksAt(job)).toBe(1);
    await operator.call('POST', `/v1/operator/jobs/${job.jobId}/poll-now`);
    expect((await soundEnd(gateway, caller, job.jobId)).job.status).toBe('completed');
  }
  await simulator.advance(LATE_MS);
  await eventually(async () => (await answersTo(late)).includes(200));

  const all = [doubled, badlySigned, stale, early, late, lost];
  const budget = await caller.budget();
  for (const { batchId } of all) {
    expect(await tell(`again-${batchId}`, 'batch.failed', batchId)).toBe(200);
    expect(await tell(`again-${batchId}`, 'batch.cancelled', batchId)).toBe(200);
  }
  for (const job of all) {
    expect((await soundEnd(gateway, caller, job.jobId)).job.counts).toMatchObject({ completed: 4, failed: 0 });
    expect(await chargesOf(caller, job.jobId)).toHaveLength(4);
    expect(await looksAt(job)).toBe(ALL_LOOKS);
  }
  expect(await caller.budget()).toEqual(budget);
});

test('the event of a batch at Gemini ends its job likewise', async () => {
  const { simulator } = gateway;
  const { caller } = await gateway.newTenant();
  await simulator.settings({
    gemini: {
      webhookUrl: `${gateway.url}/provider-webhooks/gemini`,
      webhookSecret: TEST_WEBHOOK_SECRET,
      runningMs: LATE_MS,
    },
  });
  const jobId = await caller.submitPrompts(['question 1', 'question 2'], { model: 'gemini/gemini-3.8-flash' });
  const looks = async () => (await simulator.journal({ route: 'batches.retrieve', provider: 'gemini' })).length;
  await eventually(async () => (await looks()) > 0 && (await caller.job(jobId)).status === 'running');
  await simulator.advance(LATE_MS);
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'completed', counts: { completed: 2 } });
  expect(await looks()).toBe(ALL_LOOKS);
  const [delivery] = await simulator.journal({ route: 'webhook:deliver', provider: 'gemini' });
  expect(delivery?.status).toBe(200);
});

test('an event that is not true leads to a poll, and the poll decides', async () => {
  const { caller } = await gateway.newTenant();
  const job = await running(caller);
  for (const [index, type] of ['batch.failed', 'batch.completed', 'batch.expired'].entries()) {
    expect(await tell(`untrue-${index}-${job.batchId}`, type, job.batchId)).toBe(200);
    await eventually(async () => (await looksAt(job)) === index + 2);
  }
  expect(await caller.job(job.jobId)).toMatchObject({ status: 'running', error: null, cost: { settled: '0.00' } });
  await finish(job);
  expect((await soundEnd(gateway, caller, job.jobId)).job).toMatchObject({
    status: 'completed',
    counts: { completed: 4 },
  });
});

test('M-01: event, operator and many readers at once charge each item once', async () => {
  const { caller } = await gateway.newTenant();
  const job = await running(caller, { doubled: true });
  const pollNow = () => gateway.operator.call('POST', `/v1/operator/jobs/${job.jobId}/poll-now`);
  const readers = Array.from({ length: 10 }, () => Promise.all([caller.job(job.jobId), pollNow()]));
  await Promise.all([finish(job), ...readers]);
  const { job: ended } = await soundEnd(gateway, caller, job.jobId);
  const before = [await caller.budget(), await chargesOf(caller, job.jobId)];
  for (let round = 0; round < 5; round += 1) {
    const reads = Array.from({ length: 10 }, () => Promise.all([caller.job(job.jobId), caller.results(job.jobId)]));
    await Promise.all([...reads, tell(`after-${round}`, 'batch.completed', job.batchId)]);
  }
  expect([await caller.budget(), await chargesOf(caller, job.jobId)]).toEqual(before);
  expect(before[1]).toHaveLength(4);
  expect((await soundEnd(gateway, caller, job.jobId)).job.cost).toEqual(ended.cost);
});
