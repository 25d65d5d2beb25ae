import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import type { Fault } from '../../../simulators/faults.ts';
import { ANTHROPIC, atEach, type ChatTarget, GEMINI } from '../../harness/chat-targets.ts';
import { eventually } from '../../harness/eventually.ts';
import { type Caller, type JobAnswer, type ResultRow, startGateway, type TestGateway } from '../../harness/gateway.ts';
import { batchAt, batchesAt, createsOf } from '../../harness/provider-calls.ts';
import { attemptTokens, faultAt, prompts } from '../../harness/provider-side.ts';
import { soundEnd } from '../../harness/sound-end.ts';

const CREATE_DEADLINE_MS = 600;
const LISTING_LAG_MS = 300;
const BOTH = [ANTHROPIC, GEMINI];
const HELD = { stuck: { state: 'in_progress' as const, finished: 0 } };

let gateway: TestGateway;
let caller: Caller;
beforeAll(async () => {
  gateway = await startGateway({
    settings: { capacityRetryMs: 100, createDeadlineMs: CREATE_DEADLINE_MS, listingLagMs: LISTING_LAG_MS },
  });
  ({ caller } = await gateway.newTenant());
});
afterEach(() => gateway.simulator.clearFaults());
afterAll(() => gateway.stop());

const script = ({ provider }: ChatTarget, route: string, ...actions: Fault['action'][]) =>
  gateway.simulator.faults(...actions.map((action) => faultAt(provider, route, action)));

async function waitsFor(jobId: string, reason: string): Promise<JobAnswer> {
  return eventually(async () => {
    const job = await caller.job(jobId);
    return job.waiting?.reason === reason ? job : null;
  });
}

/** Each item asks for a text that names its job. */
const submitNamed = (name: string, count: number, { model }: ChatTarget) =>
  caller.submitPrompts(
    prompts(count).map((_, index) => `[[sim:text=${name} ${index + 1}]][[sim:usage=1000,100]]`),
    { model },
  );

/** Fails where an answer is another job's, or another item's. */
function expectNamed(rows: readonly ResultRow[], name: string): void {
  const texts = rows.map(({ result }) => {
    const [choice] = (result?.['choices'] ?? []) as { message: { content: string } }[];
    return choice?.message.content;
  });
  expect(texts).toEqual(rows.map((_, index) => `${name} ${index + 1}`));
}

test('S-04: creates that were carried out and never answered, in any way, are each found and adopted, and nothing is swapped', async () => {
  const lost: Fault['action'][] = [
    { drop_after: true },
    { status_after: 500 },
    { status_after: 504 },
    { delay_ms: 3_000, delay_clock: 'real' },
  ];
  await atEach(BOTH, async (target) => {
    await script(target, 'batches.create', ...lost);
    // All of one size, so that at Anthropic nothing tells their batches apart before the results do.
    const names = lost.map((_, index) => `job ${index}`);
    const jobs = await Promise.all(names.map((name) => submitNamed(name, 3, target)));
    // Only when all have ended can it be told whose each batch is.
    for (const jobId of jobs) await caller.ended(jobId, 60_000);
    for (const [index, jobId] of jobs.entries()) {
      const { job, rows } = await soundEnd(gateway, caller, jobId);
      expect(job).toMatchObject({ status: 'completed', counts: { completed: 3 }, waiting: null, warnings: [] });
      expectNamed(rows, names[index] ?? '');
      expect(await createsOf(gateway, jobId)).toHaveLength(1);
      expect(await batchesAt(gateway, jobId)).toHaveLength(1);
    }
  });
});

test('S-04: a batch that the list shows late is adopted all the same', async () => {
  await atEach(BOTH, async (target) => {
    const lag = { list_lag_ms: CREATE_DEADLINE_MS + LISTING_LAG_MS / 2 };
    await script(target, 'batches.create', { status_after: 500, ...lag });
    const jobId = await submitNamed('late', 2, target);
    const waiting = await waitsFor(jobId, 'confirming_submission');
    expect(waiting.cost.held).toBe(waiting.cost.reserved);
    // Asked to look at once: an early "no such batch" would be taken for the truth.
    await gateway.operator.call('POST', `/v1/operator/jobs/${jobId}/poll-now`);
    const { job } = await soundEnd(gateway, caller, jobId);
    expect(job.status).toBe('completed');
    expect(await createsOf(gateway, jobId)).toHaveLength(1);
  });
});

test('S-04: a list that cannot be read says nothing of the batch, so no second one is made', async () => {
  await atEach(BOTH, async (target) => {
    await script(target, 'batches.create', { drop_after: true });
    await script(
      target,
      'batches.list',
      { status: 503 },
      { error_object_200: true },
      { drop_before: true },
      { status: 401 },
      { status: 200, body: {} },
    );
    const jobId = await submitNamed('listed', 2, target);
    const { job } = await soundEnd(gateway, caller, jobId);
    expect(job.status).toBe('completed');
    expect(await createsOf(gateway, jobId)).toHaveLength(1);
  });
});

test.each<[string, Fault['action'][]]>([
  ['never arrives', [{ drop_before: true }]],
  ['fails with 500 or an overload without acting', [{ status: 500 }, { status: 529 }]],
  [
    'meets a page of a proxy',
    [{ status: 200, body: '<html>welcome</html>', headers: { 'content-type': 'text/html' } }],
  ],
])('S-04: a create that %s is sent once more, under a token of its own', async (_how, actions) => {
  await atEach(BOTH, async (target) => {
    await script(target, 'batches.create', ...actions);
    const jobId = await submitNamed('again', 2, target);
    const { job, rows } = await soundEnd(gateway, caller, jobId);
    expect(job).toMatchObject({ status: 'completed', waiting: null });
    expectNamed(rows, 'again');
    const tokens = await attemptTokens(gateway, jobId);
    expect(new Set(tokens).size).toBe(actions.length + 1);
    expect(await createsOf(gateway, jobId)).toHaveLength(actions.length + 1);
    expect(await batchesAt(gateway, jobId)).toHaveLength(1);
  });
});

test('S-04: while a create at Anthropic is unanswered the next waits its turn, visibly, and then goes', async () => {
  await script(ANTHROPIC, 'batches.create', { drop_after: true, ...HELD });
  // As long as the list cannot be read nobody knows what became of the first.
  await gateway.simulator.faults(faultAt('anthropic', 'batches.list', { status: 503 }, { times: 'always' }));
  const first = await submitNamed('first', 2, ANTHROPIC);
  await waitsFor(first, 'confirming_submission');
  const second = await submitNamed('second', 2, ANTHROPIC);
  expect((await waitsFor(second, 'submission_turn')).cost.held).not.toBe('0.00');
  expect(await createsOf(gateway, second)).toEqual([]);
  await gateway.simulator.clearFaults();
  const ended = await soundEnd(gateway, caller, second);
  expectNamed(ended.rows, 'second');
  const { id } = await batchAt(gateway, first);
  await gateway.simulator.batch(id, { stuck: null });
  const { rows } = await soundEnd(gateway, caller, first);
  expectNamed(rows, 'first');
});

const Created = z.object({ id: z.string() });

/** A batch that somebody else makes at Anthropic with the same key. */
async function makeStranger(items: number): Promise<{ id: string; remove(): Promise<void> }> {
  await script(ANTHROPIC, 'batches.create', HELD);
  const requests = prompts(items, '[[sim:text=not yours]][[sim:usage=900000,90000]]').map((content, index) => ({
    custom_id: `someone-elses-${index + 1}`,
    params: { model: 'claude-sonnet-4-6', max_tokens: 50, messages: [{ role: 'user', content }] },
  }));
  const url = `${gateway.anthropicUrl}/v1/messages/batches`;
  const headers = { 'x-api-key': 'sim-key', 'anthropic-version': '2026-10-21', 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ requests }) });
  const { id } = Created.parse(await response.json());
  // What is not the gateway's must not be taken for a batch that it lost.
  return { id, remove: async () => void (await fetch(`${url}/${id}`, { method: 'DELETE', headers })) };
}

interface OperatorAnswer {
  shards: { state: string; batches: { provider_batch_id: string | null }[] }[];
}

const operatorView = (jobId: string) => gateway.operator.call<OperatorAnswer>('GET', `/v1/operator/jobs/${jobId}`);

test('S-04: where two batches may be the lost one nothing is guessed, and their results tell', async () => {
  const stranger = await makeStranger(2);
  await script(ANTHROPIC, 'batches.create', { drop_after: true, ...HELD });
  const jobId = await submitNamed('mine', 2, ANTHROPIC);
  await eventually(async () => (await operatorView(jobId)).shards[0]?.state === 'indeterminate');
  const waiting = await waitsFor(jobId, 'confirming_submission');
  expect(waiting.cost.held).toBe(waiting.cost.reserved);
  const { id } = await batchAt(gateway, jobId);
  for (const batchId of [stranger.id, id]) await gateway.simulator.batch(batchId, { stuck: null });
  await gateway.operator.call('POST', `/v1/operator/jobs/${jobId}/poll-now`);
  await caller.ended(jobId);
  await stranger.remove();
  const { job, rows } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'completed', cost: { settled: '0.0045' }, unmatched_lines: 0 });
  expectNamed(rows, 'mine');
  expect(await createsOf(gateway, jobId)).toHaveLength(1);
});

test('S-04: a batch that was taken for the lost one and is another’s settles nothing, and the items are sent anew', async () => {
  const stranger = await makeStranger(3);
  await script(ANTHROPIC, 'batches.create', { drop_before: true });
  const jobId = await submitNamed('own', 3, ANTHROPIC);
  await eventually(async () => (await operatorView(jobId)).shards[0]?.batches[0]?.provider_batch_id === stranger.id);
  await gateway.simulator.batch(stranger.id, { stuck: null });
  await caller.ended(jobId, 60_000);
  await stranger.remove();
  const { job, rows } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'completed', cost: { settled: '0.00675' } });
  expect(job.warnings?.map(({ code }) => code)).toContain('foreign_batch');
  expectNamed(rows, 'own');
  expect(await batchesAt(gateway, jobId)).toHaveLength(1);
});
