import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Fault } from '../../../simulators/faults.ts';
import { ANTHROPIC, atEach, type ChatTarget, GEMINI } from '../../harness/chat-targets.ts';
import { eventually } from '../../harness/eventually.ts';
import { type Caller, startGateway, type TestGateway } from '../../harness/gateway.ts';
import { batchAt, batchesAt } from '../../harness/provider-calls.ts';
import { faultAt, prompts } from '../../harness/provider-side.ts';
import { DOWNLOAD_ROUTES } from '../../harness/simulated-provider.ts';
import { soundEnd, submitHalfDone, submitHeld, withStatus } from '../../harness/sound-end.ts';

const BOTH = [ANTHROPIC, GEMINI];
const MARK = '[[sim:usage=1000,100]]';

let gateway: TestGateway;
let caller: Caller;
beforeAll(async () => {
  gateway = await startGateway();
  ({ caller } = await gateway.newTenant());
});
afterEach(async () => {
  await gateway.simulator.clearFaults();
  await gateway.simulator.settings({ anthropic: { cancelEndedStatus: 400 }, gemini: { cancelledOutput: false } });
});
afterAll(() => gateway.stop());

const script = (
  { provider }: ChatTarget,
  route: string,
  action: Fault['action'],
  more?: Pick<Fault, 'times' | 'match'>,
) => gateway.simulator.faults(faultAt(provider, route, action, more));

async function wasAskedToCancel(batchId: string): Promise<boolean> {
  const calls = await gateway.simulator.journal({ route: 'batches.cancel' });
  return calls.some(({ facts }) => facts['batch_id'] === batchId);
}

/** Dollars for so many answers. */
const costOf = ({ costOf1000And100: each }: ChatTarget, answers: number) => Number(each) * answers;

test.each([
  { finished: 0, listed: true, outcome: 'effective' },
  { finished: 5, listed: true, outcome: 'partial' },
  { finished: 5, listed: false, outcome: 'partial' },
  { finished: 10, listed: true, outcome: 'too_late' },
])(
  'C-05: Anthropic keeps $finished of 10 done at the cancel, and they are charged (others listed: $listed)',
  async (scene) => {
    const { finished, listed, outcome } = scene;
    const end = { status: 'cancelled' as const, finished, list_unfinished: listed };
    const jobId = await submitHalfDone(gateway, caller, { total: 10, finished, end, mark: MARK }, ANTHROPIC);
    await caller.cancel(jobId, 'no longer needed');
    const { job, rows } = await soundEnd(gateway, caller, jobId);
    expect(job).toMatchObject({
      status: finished === 10 ? 'completed' : 'cancelled',
      counts: { completed: finished, cancelled: 10 - finished },
      cancel: { outcome, reason: 'no longer needed' },
    });
    expect(Number(job.cost.settled)).toBeCloseTo(costOf(ANTHROPIC, finished), 9);
    for (const row of withStatus(rows, 'completed')) expect(row.cost).toBe(ANTHROPIC.costOf1000And100);
    for (const row of withStatus(rows, 'cancelled')) {
      expect(row).toMatchObject({ cost: '0.00', error: { class: 'cancelled', code: 'provider_cancelled' } });
    }
  },
);

test.each([0, 5])(
  'C-05: Gemini keeps nothing of a batch with %i of 10 done at the cancel, and nothing is charged',
  async (finished) => {
    const jobId = await submitHalfDone(gateway, caller, { total: 10, finished, mark: MARK }, GEMINI);
    await caller.cancel(jobId);
    const { job, rows } = await soundEnd(gateway, caller, jobId);
    expect(job).toMatchObject({
      status: 'cancelled',
      counts: { completed: 0, cancelled: 10 },
      cancel: { outcome: 'effective' },
      cost: { settled: '0.00' },
    });
    expect(rows.every(({ error }) => error?.code === 'provider_cancelled')).toBe(true);
    expect(await batchesAt(gateway, jobId)).toMatchObject([{ status: 'BATCH_STATE_CANCELLED' }]);
  },
);

test('C-05: should Gemini show results of a cancelled batch, they are kept and charged', async () => {
  await gateway.simulator.settings({ gemini: { cancelledOutput: true } });
  const jobId = await submitHalfDone(gateway, caller, { total: 10, finished: 4, mark: MARK }, GEMINI);
  await caller.cancel(jobId);
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({
    status: 'cancelled',
    counts: { completed: 4, cancelled: 6 },
    cancel: { outcome: 'partial' },
    cost: { settled: '0.0011' },
  });
});

test.each([
  { omit: { index: [6, 7, 8] }, completed: 5 },
  { omit: { first: 2 }, completed: 3 },
])('C-06: of 25 items in flight at the cancel each ends once (all lines twice, left out: $omit)', async (scene) => {
  const jobId = await submitHalfDone(gateway, caller, { total: 25, finished: 5 }, ANTHROPIC);
  await script(ANTHROPIC, 'batch:results', { duplicate_lines: {}, omit_lines: scene.omit });
  await caller.cancel(jobId);
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({
    status: 'cancelled',
    counts: { completed: scene.completed, cancelled: 25 - scene.completed },
    unmatched_lines: 0,
  });
});

test.each([
  { target: ANTHROPIC, status: 200 },
  { target: ANTHROPIC, status: 400 },
  { target: ANTHROPIC, status: 409 },
  { target: GEMINI, status: 200 },
])(
  'C-01: a cancel after $target.provider is done keeps every result and is told too late (it answers $status)',
  async (scene) => {
    const { target, status } = scene;
    const { simulator } = gateway;
    await simulator.settings({ anthropic: { cancelEndedStatus: status } });
    const running = target === ANTHROPIC ? 'in_progress' : 'BATCH_STATE_RUNNING';
    await script(target, 'batches.retrieve', { native_status: running }, { times: 'always' });
    const jobId = await caller.submitPrompts(prompts(6), { model: target.model });
    const { id } = await batchAt(gateway, jobId, (batch) => batch.status === target.endedStatus);
    expect((await caller.cancel(jobId)).status).toBe('cancel_requested');
    await eventually(() => wasAskedToCancel(id));
    await simulator.clearFaults();
    const { job } = await soundEnd(gateway, caller, jobId);
    expect(job).toMatchObject({ status: 'completed', counts: { completed: 6 }, cancel: { outcome: 'too_late' } });
  },
);

test('C-01: a cancel while the results are coming in does not cut them off', async () => {
  const { simulator } = gateway;
  const jobs = BOTH.map(async (target) => {
    const route = DOWNLOAD_ROUTES[target.provider];
    await script(target, route, { stall: { after_bytes: 100, ms: 3_600_000 } });
    const jobId = await caller.submitPrompts(prompts(4), { model: target.model });
    await eventually(async () => (await simulator.journal({ route })).some((entry) => entry.ended_at === null));
    await caller.cancel(jobId);
    return jobId;
  });
  const cancelled = await Promise.all(jobs);
  await simulator.advance(3_600_000);
  for (const jobId of cancelled) {
    const { job } = await soundEnd(gateway, caller, jobId);
    expect(job).toMatchObject({ status: 'completed', counts: { completed: 4 }, cancel: { outcome: 'too_late' } });
  }
});

test('C-01: a cancel that the provider fails to take is asked for again', async () => {
  await atEach(BOTH, async (target) => {
    const jobId = await submitHalfDone(gateway, caller, { total: 4, finished: 1 }, target);
    await script(target, 'batches.cancel', { status: 500 });
    await script(target, 'batches.cancel', { drop_before: true });
    await caller.cancel(jobId);
    const { job } = await soundEnd(gateway, caller, jobId);
    const completed = target.keepsFinished ? 1 : 0;
    expect(job).toMatchObject({ status: 'cancelled', counts: { completed, cancelled: 4 - completed } });
  });
});

test('C-01: a cancel that the provider takes and does not heed ends with every result, too late', async () => {
  await atEach(BOTH, async (target) => {
    const { jobId, id, letGo } = await submitHeld(gateway, caller, prompts(4, MARK), target);
    const batches = (await gateway.simulator.batches())[target.provider] ?? [];
    const shown = batches.find((batch) => JSON.stringify(batch).includes(id));
    const body = target === GEMINI ? {} : shown;
    await script(target, 'batches.cancel', { status: 200, body }, { times: 'always', match: { batch_id: id } });
    await caller.cancel(jobId);
    await eventually(() => wasAskedToCancel(id));
    await letGo();
    const { job } = await soundEnd(gateway, caller, jobId);
    expect(job).toMatchObject({ status: 'completed', counts: { completed: 4 }, cancel: { outcome: 'too_late' } });
    expect(Number(job.cost.settled)).toBeCloseTo(costOf(target, 4), 9);
  });
});

test('C-03: a cancel during an unanswered create waits for its answer, cancels at the provider and settles what ran', async () => {
  const { simulator } = gateway;
  const jobs = BOTH.map(async (target) => {
    const stuck = { state: 'in_progress' as const, finished: 2 };
    await script(target, 'batches.create', { delay_ms: 10_000, stuck });
    const jobId = await caller.submitPrompts(prompts(5), { model: target.model });
    await batchAt(gateway, jobId, ({ status }) => status === 'in_progress' || status === 'BATCH_STATE_RUNNING');
    const asked = await caller.cancel(jobId);
    expect(asked.status).toBe('cancel_requested');
    expect(asked.cost.held).toBe(asked.cost.reserved);
    return { target, jobId };
  });
  const cancelled = await Promise.all(jobs);
  await simulator.advance(10_000);
  for (const { target, jobId } of cancelled) {
    const { job } = await soundEnd(gateway, caller, jobId);
    const completed = target.keepsFinished ? 2 : 0;
    expect(job).toMatchObject({
      status: 'cancelled',
      counts: { completed, cancelled: 5 - completed },
      cancel: { outcome: target.keepsFinished ? 'partial' : 'effective' },
    });
    const ledger = await caller.ledger(jobId);
    const at = (event: string) => Date.parse(ledger.get(event)?.created_at ?? '');
    expect(at('batch.released')).toBeGreaterThan(at('batch.submitted'));
  }
});

test('C-03: the batch of a create whose answer was lost is found and cancelled', async () => {
  await atEach(BOTH, async (target) => {
    await script(target, 'batches.create', { drop_after: true, stuck: { state: 'in_progress', finished: 1 } });
    const jobId = await caller.submitPrompts(prompts(3), { model: target.model });
    await eventually(async () => (await caller.job(jobId)).waiting?.reason === 'confirming_submission');
    const asked = await caller.cancel(jobId);
    expect(asked.cost.held).toBe(asked.cost.reserved);
    const { job } = await soundEnd(gateway, caller, jobId);
    const completed = target.keepsFinished ? 1 : 0;
    expect(job).toMatchObject({ status: 'cancelled', counts: { completed, cancelled: 3 - completed } });
    expect(await batchesAt(gateway, jobId)).toHaveLength(1);
  });
});

test('C-03: a create that never arrived is not sent again', async () => {
  await atEach(BOTH, async (target) => {
    await script(target, 'batches.create', { drop_before: true });
    const jobId = await caller.submitPrompts(prompts(3), { model: target.model });
    await eventually(async () => (await caller.job(jobId)).waiting?.reason === 'confirming_submission');
    await caller.cancel(jobId);
    const { job } = await soundEnd(gateway, caller, jobId);
    expect(job).toMatchObject({ status: 'cancelled', counts: { cancelled: 3 }, cancel: { outcome: 'effective' } });
    expect(job.cost.settled).toBe('0.00');
    expect(await batchesAt(gateway, jobId)).toEqual([]);
  });
});

test.each(['files.upload.start', 'files.upload.chunk'])(
  'C-03: a cancel during %s leads to no create',
  async (route) => {
    const { simulator } = gateway;
    await script(GEMINI, route, { delay_ms: 20_000 });
    const jobId = await caller.submitPrompts(prompts(3), { model: GEMINI.model });
    await eventually(async () => (await simulator.journal({ route })).some((entry) => entry.ended_at === null));
    await caller.cancel(jobId);
    await simulator.advance(20_000);
    const { job } = await soundEnd(gateway, caller, jobId);
    expect(job).toMatchObject({ status: 'cancelled', counts: { cancelled: 3 } });
    expect(await batchesAt(gateway, jobId)).toEqual([]);
  },
);
