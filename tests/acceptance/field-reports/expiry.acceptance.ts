import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../../harness/gateway.ts';
import { batchesOf, batchOf, openai, prompts } from '../../harness/provider-side.ts';
import { soundEnd, submitHalfDone, withStatus } from '../../harness/sound-end.ts';

const DAY_MS = 24 * 3_600_000;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterEach(() => gateway.simulator.clearFaults());
afterAll(() => gateway.stop());

test.each([
  { finished: 0, listed: true },
  { finished: 0, listed: false },
  { finished: 1, listed: false },
])(
  'C-07: every item of an expired batch has an outcome ($finished of 4 done, the others listed: $listed)',
  async (scene) => {
    const { finished, listed } = scene;
    const { caller } = await gateway.newTenant();
    const end = { status: 'expired' as const, finished, list_unfinished: listed };
    await gateway.simulator.faults(openai('batches.create', { end_state: end }));
    const jobId = await caller.submitPrompts(prompts(4));
    const { job, rows } = await soundEnd(gateway, caller, jobId);
    expect(job).toMatchObject({ status: 'expired', counts: { completed: finished, expired: 4 - finished, failed: 0 } });
    for (const row of withStatus(rows, 'expired')) {
      expect(row).toMatchObject({ cost: '0.00', error: { class: 'expired', code: 'batch_expired' } });
      expect(row.error?.message).not.toBe('');
    }
    const ledger = await caller.ledger(jobId);
    expect(ledger.has('batch.expired')).toBe(true);
    if (finished === 0) expect(ledger.get('batch.released')?.amount).toBe(job.cost.reserved);
  },
);

test.each(['validating', 'in_progress'] as const)(
  'C-07: a window that closes on a batch still %s ends the job',
  async (state) => {
    const { caller } = await gateway.newTenant();
    await gateway.simulator.faults(openai('batches.create', { stuck: { state, finished: 0 } }));
    const jobId = await caller.submitPrompts(prompts(4));
    await batchOf(gateway, jobId, (batch) => batch.status === state);
    await gateway.simulator.advance(DAY_MS + 60_000);
    const { job } = await soundEnd(gateway, caller, jobId);
    expect(job).toMatchObject({ status: 'expired', counts: { expired: 4 }, cost: { settled: '0.00' } });
  },
);

test('C-07: a window that closes before a cancel takes effect ends the job expired', async () => {
  const { caller } = await gateway.newTenant();
  const jobId = await submitHalfDone(gateway, caller, {
    total: 4,
    finished: 1,
    end: { status: 'expired', finished: 1 },
  });
  await caller.cancel(jobId);
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({
    status: 'expired',
    counts: { completed: 1, expired: 3 },
    cancel: { outcome: 'too_late' },
  });
});

test('C-07: one shard that expires leaves the results of the others alone', async () => {
  const { caller } = await gateway.newTenant();
  const end = { status: 'expired' as const, finished: 0 };
  await gateway.simulator.faults(openai('batches.create', { end_state: end }));
  const jobId = await caller.submitPrompts(prompts(6), { execution: { max_items_per_shard: 2 } });
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'expired', counts: { completed: 4, expired: 2 } });
});

test.each([
  { total: 100, finished: 79, listed: true },
  { total: 100, finished: 79, listed: false },
  { total: 100, finished: 99, listed: true },
])(
  'R-17: $finished of $total finished answers are kept and charged when the batch expires (others listed: $listed)',
  async (scene) => {
    const { total, finished, listed } = scene;
    const { caller } = await gateway.newTenant();
    const end = { status: 'expired' as const, finished, list_unfinished: listed };
    await gateway.simulator.faults(openai('batches.create', { end_state: end }));
    const jobId = await caller.submitPrompts(prompts(total, '[[sim:usage=1000,100]]'));
    const { job, rows } = await soundEnd(gateway, caller, jobId);
    expect(job).toMatchObject({ status: 'expired', counts: { total, completed: finished, expired: total - finished } });
    // 1000 × 0.075 + 100 × 0.3 dollars per million tokens.
    const cost = (0.000_105 * finished).toFixed(6).replace(/0+$/, '');
    expect(job.cost.settled).toBe(cost);
    expect((await caller.budget()).settled).toBe(cost);
    expect(withStatus(rows, 'completed').every((row) => row.result !== null && row.cost === '0.000105')).toBe(true);
    expect(withStatus(rows, 'expired').every((row) => row.result === null && row.cost === '0.00')).toBe(true);
    expect(await batchesOf(gateway, jobId)).toHaveLength(1);
  },
);
