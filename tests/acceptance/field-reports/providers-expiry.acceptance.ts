import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { ANTHROPIC, atEach, GEMINI } from '../../harness/chat-targets.ts';
import { type Caller, startGateway, type TestGateway } from '../../harness/gateway.ts';
import { batchAt, batchesAt } from '../../harness/provider-calls.ts';
import { faultAt, prompts } from '../../harness/provider-side.ts';
import { soundEnd, submitHalfDone, submitHeld, withStatus } from '../../harness/sound-end.ts';

const HOUR_MS = 3_600_000;
const MARK = '[[sim:usage=1000,100]]';

let gateway: TestGateway;
let caller: Caller;
beforeAll(async () => {
  gateway = await startGateway();
  ({ caller } = await gateway.newTenant());
});
afterEach(() => gateway.simulator.clearFaults());
afterAll(() => gateway.stop());

test.each([
  { total: 4, finished: 0, listed: true, cost: '0.00' },
  { total: 4, finished: 0, listed: false, cost: '0.00' },
  { total: 4, finished: 1, listed: false, cost: '0.00225' },
  { total: 100, finished: 79, listed: true, cost: '0.17775' },
])(
  'C-07, R-17: Anthropic keeps $finished of $total done when the batch expires, and they are charged (others listed: $listed)',
  async (scene) => {
    const { total, finished, listed, cost } = scene;
    const end = { status: 'expired' as const, finished, list_unfinished: listed };
    await gateway.simulator.faults(faultAt('anthropic', 'batches.create', { end_state: end }));
    const jobId = await caller.submitPrompts(prompts(total, MARK), { model: ANTHROPIC.model });
    const { job, rows } = await soundEnd(gateway, caller, jobId);
    expect(job).toMatchObject({
      status: 'expired',
      counts: { completed: finished, expired: total - finished, failed: 0 },
      cost: { settled: cost },
    });
    for (const row of withStatus(rows, 'expired')) {
      expect(row).toMatchObject({ cost: '0.00', result: null, error: { class: 'expired', code: 'batch_expired' } });
    }
    const ledger = await caller.ledger(jobId);
    expect(ledger.has('batch.expired')).toBe(true);
    if (finished === 0) expect(ledger.get('batch.released')?.amount).toBe(job.cost.reserved);
    expect(await batchesAt(gateway, jobId)).toHaveLength(1);
  },
);

test.each([0, 3, 4])(
  'C-07: Gemini keeps nothing of a batch that expires with %i of 4 done: all expired, and free',
  async (finished) => {
    const end = { status: 'expired' as const, finished };
    await gateway.simulator.faults(faultAt('gemini', 'batches.create', { end_state: end }));
    const jobId = await caller.submitPrompts(prompts(4, MARK), { model: GEMINI.model });
    const { job, rows } = await soundEnd(gateway, caller, jobId);
    expect(job).toMatchObject({ status: 'expired', counts: { completed: 0, expired: 4 }, cost: { settled: '0.00' } });
    for (const row of rows) expect(row.error).toMatchObject({ class: 'expired', code: 'batch_expired' });
    expect((await caller.ledger(jobId)).get('batch.released')?.amount).toBe(job.cost.reserved);
    expect(await batchesAt(gateway, jobId)).toMatchObject([{ status: 'BATCH_STATE_EXPIRED' }]);
  },
);

test('C-07: a window that closes on batches still at work ends their jobs, each with what its provider keeps', async () => {
  const jobIds = new Map<string, { halfDone: string; waiting: string }>();
  await atEach([ANTHROPIC, GEMINI], async (target) => {
    const halfDone = await submitHalfDone(gateway, caller, { total: 5, finished: 2, mark: MARK }, target);
    const { jobId: waiting } = await submitHeld(gateway, caller, prompts(3), target);
    jobIds.set(target.provider, { halfDone, waiting });
  });
  // Anthropic's window is of 24 hours, Gemini's of 48. They have one clock: an upload must not be left on its way.
  await gateway.simulator.advance(48 * HOUR_MS + 60_000);
  await atEach([ANTHROPIC, GEMINI], async (target) => {
    const { halfDone, waiting } = jobIds.get(target.provider) ?? expect.unreachable();
    const { job } = await soundEnd(gateway, caller, halfDone);
    const completed = target.keepsFinished ? 2 : 0;
    expect(job).toMatchObject({ status: 'expired', counts: { completed, expired: 5 - completed } });
    expect(Number(job.cost.settled)).toBeCloseTo(completed * Number(target.costOf1000And100), 9);
    const none = await soundEnd(gateway, caller, waiting);
    expect(none.job).toMatchObject({ status: 'expired', counts: { expired: 3 }, cost: { settled: '0.00' } });
  });
});

test('C-07: an item that never ends costs Gemini’s callers the whole batch, Anthropic’s that item alone', async () => {
  const texts = [...prompts(2), '[[sim:expire]]'];
  const anthropic = await caller.submitPrompts(texts, { model: ANTHROPIC.model });
  expect((await soundEnd(gateway, caller, anthropic)).job.counts).toMatchObject({ completed: 2, expired: 1 });
  const gemini = await caller.submitPrompts(texts, { model: GEMINI.model });
  await batchAt(gateway, gemini, ({ status }) => status === 'BATCH_STATE_RUNNING');
  await gateway.simulator.advance(48 * HOUR_MS + 60_000);
  expect((await soundEnd(gateway, caller, gemini)).job.counts).toMatchObject({ completed: 0, expired: 3 });
});

test('C-07: a window that closes before a cancel takes effect ends the job expired', async () => {
  await atEach([ANTHROPIC, GEMINI], async (target) => {
    const end = { status: 'expired' as const, finished: 1 };
    const jobId = await submitHalfDone(gateway, caller, { total: 4, finished: 1, end }, target);
    await caller.cancel(jobId);
    const { job } = await soundEnd(gateway, caller, jobId);
    const completed = target.keepsFinished ? 1 : 0;
    expect(job).toMatchObject({
      status: 'expired',
      counts: { completed, expired: 4 - completed },
      cancel: { outcome: 'too_late' },
    });
  });
});

test('C-07: one shard that expires leaves the results of the others alone', async () => {
  await atEach([ANTHROPIC, GEMINI], async ({ provider, model }) => {
    const end = { status: 'expired' as const, finished: 0 };
    await gateway.simulator.faults(faultAt(provider, 'batches.create', { end_state: end }));
    const jobId = await caller.submitPrompts(prompts(9), { model, execution: { max_items_per_shard: 4 } });
    const { job } = await soundEnd(gateway, caller, jobId);
    expect(job.status).toBe('expired');
    expect([1, 2, 3, 4]).toContain(job.counts.expired);
    expect(job.counts.completed + job.counts.expired).toBe(9);
  });
});
