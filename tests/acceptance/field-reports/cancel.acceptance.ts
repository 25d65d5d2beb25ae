import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../harness/eventually.ts';
import { startGateway, type TestGateway } from '../../harness/gateway.ts';
import { batchesOf, batchOf, openai, prompts } from '../../harness/provider-side.ts';
import { soundEnd, submitHalfDone, withStatus } from '../../harness/sound-end.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterEach(() => gateway.simulator.clearFaults());
afterAll(() => gateway.stop());

test.each([200, 400, 409])(
  'C-01: a cancel after the provider is done keeps every result and is told too late (it answers %i)',
  async (status) => {
    const { simulator } = gateway;
    const { caller } = await gateway.newTenant();
    await simulator.settings({ openai: { cancelEndedStatus: status } });
    await simulator.faults(openai('batches.retrieve', { native_status: 'in_progress' }, { times: 'always' }));
    const jobId = await caller.submitPrompts(prompts(10));
    const batch = await batchOf(gateway, jobId, (newest) => newest.status === 'completed');
    expect((await caller.cancel(jobId)).status).toBe('cancel_requested');
    await eventually(async () =>
      (await simulator.journal({ route: 'batches.cancel' })).some(({ facts }) => facts['batch_id'] === batch.id),
    );
    await simulator.clearFaults();
    const { job } = await soundEnd(gateway, caller, jobId);
    expect(job).toMatchObject({ status: 'completed', counts: { completed: 10 }, cancel: { outcome: 'too_late' } });
  },
);

test('C-01: a cancel while the results are coming in does not cut them off', async () => {
  const { simulator } = gateway;
  const { caller } = await gateway.newTenant();
  await simulator.faults(openai('files.content', { stall: { after_bytes: 100, ms: 3_600_000 } }));
  const jobId = await caller.submitPrompts(prompts(4));
  await eventually(async () =>
    (await simulator.journal({ route: 'files.content' })).some((entry) => entry.ended_at === null),
  );
  await caller.cancel(jobId);
  await simulator.advance(3_600_000);
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'completed', cancel: { outcome: 'too_late' } });
});

test('C-01: a cancel that the provider fails to take is asked for again', async () => {
  const { simulator } = gateway;
  const { caller } = await gateway.newTenant();
  const jobId = await submitHalfDone(gateway, caller, { total: 4, finished: 1 });
  await simulator.faults(openai('batches.cancel', { status: 500 }), openai('batches.cancel', { drop_before: true }));
  await caller.cancel(jobId);
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'cancelled', counts: { completed: 1, cancelled: 3 } });
});

test('C-03: a cancel during an unanswered create waits for its answer, cancels at the provider and settles what ran', async () => {
  const { simulator } = gateway;
  const { caller } = await gateway.newTenant();
  const slow = { delay_ms: 10_000, stuck: { state: 'in_progress' as const, finished: 2 } };
  await simulator.faults(openai('batches.create', slow));
  const jobId = await caller.submitPrompts(prompts(5));
  await batchOf(gateway, jobId, (batch) => batch.request_counts.completed === 2);
  const asked = await caller.cancel(jobId);
  expect(asked.status).toBe('cancel_requested');
  expect(asked.cost.held).toBe(asked.cost.reserved);
  await simulator.advance(10_000);
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({
    status: 'cancelled',
    counts: { completed: 2, cancelled: 3 },
    cancel: { outcome: 'partial' },
  });
  const ledger = await caller.ledger(jobId);
  const at = (event: string) => Date.parse(ledger.get(event)?.created_at ?? '');
  expect(at('batch.released')).toBeGreaterThan(at('batch.submitted'));
});

test('C-03: the batch of a create whose answer was lost is found and cancelled', async () => {
  const { caller } = await gateway.newTenant();
  const lost = { drop_after: true as const, stuck: { state: 'in_progress' as const, finished: 1 } };
  await gateway.simulator.faults(openai('batches.create', lost));
  const jobId = await caller.submitPrompts(prompts(3));
  await eventually(async () => (await caller.job(jobId)).waiting?.reason === 'confirming_submission');
  const asked = await caller.cancel(jobId);
  expect(asked.cost.held).toBe(asked.cost.reserved);
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'cancelled', counts: { completed: 1, cancelled: 2 } });
  expect(await batchesOf(gateway, jobId)).toMatchObject([{ status: 'cancelled' }]);
});

test('C-03: a create that never arrived is not sent again', async () => {
  const { caller } = await gateway.newTenant();
  await gateway.simulator.faults(openai('batches.create', { drop_before: true }));
  const jobId = await caller.submitPrompts(prompts(3));
  await eventually(async () => (await caller.job(jobId)).waiting?.reason === 'confirming_submission');
  await caller.cancel(jobId);
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'cancelled', counts: { cancelled: 3 }, cancel: { outcome: 'effective' } });
  expect(job.cost.settled).toBe('0.00');
  expect(await batchesOf(gateway, jobId)).toEqual([]);
});

test('C-03: a cancel during the upload leads to no create', async () => {
  const { simulator } = gateway;
  const { caller } = await gateway.newTenant();
  await simulator.faults(openai('files.create', { delay_ms: 20_000 }));
  const jobId = await caller.submitPrompts(prompts(3));
  await eventually(async () =>
    (await simulator.journal({ route: 'files.create' })).some((entry) => entry.ended_at === null),
  );
  await caller.cancel(jobId);
  await simulator.advance(20_000);
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'cancelled', counts: { cancelled: 3 } });
  expect(await batchesOf(gateway, jobId)).toEqual([]);
});

test('C-03: a cancel ends a wait for the provider that would have lasted an hour', async () => {
  const { caller } = await gateway.newTenant();
  const busy = { status: 429, headers: { 'retry-after': '3600' } };
  await gateway.simulator.faults(openai('batches.create', busy, { times: 'always' }));
  const jobId = await caller.submitPrompts(prompts(3));
  await eventually(async () => (await caller.job(jobId)).waiting?.reason === 'provider_rate_limit');
  await caller.cancel(jobId);
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'cancelled', counts: { cancelled: 3 } });
});

test('C-03: a cancel while a batch waits to be sent anew sends nothing more', async () => {
  const { caller } = await gateway.newTenant();
  const errors = [{ code: 'token_limit_exceeded', message: 'Enqueued token limit reached for gpt-4o-mini' }];
  const full = { end_state: { status: 'failed' as const, errors } };
  await gateway.simulator.faults(openai('batches.create', full, { times: 'always' }));
  const jobId = await caller.submitPrompts(prompts(3));
  await eventually(async () => (await caller.job(jobId)).waiting?.reason === 'provider_capacity');
  await caller.cancel(jobId);
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'cancelled', counts: { cancelled: 3 }, cost: { settled: '0.00' } });
  const batches = await batchesOf(gateway, jobId);
  expect(batches.every(({ status }) => status === 'failed')).toBe(true);
});

test('C-05: a cancel while the provider still validates ends every item free of charge', async () => {
  const { caller } = await gateway.newTenant();
  await gateway.simulator.faults(openai('batches.create', { stuck: { state: 'validating' } }));
  const jobId = await caller.submitPrompts(prompts(3));
  await eventually(async () => (await caller.job(jobId)).status === 'validating');
  await batchOf(gateway, jobId);
  await caller.cancel(jobId);
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'cancelled', counts: { cancelled: 3 }, cost: { settled: '0.00' } });
});

test.each([
  { finished: 0, listed: true, outcome: 'effective' },
  { finished: 5, listed: true, outcome: 'partial' },
  { finished: 5, listed: false, outcome: 'partial' },
  { finished: 9, listed: false, outcome: 'partial' },
  { finished: 10, listed: true, outcome: 'too_late' },
])(
  'C-05: $finished of 10 done at the cancel are kept and charged, the others free (listed: $listed)',
  async (scene) => {
    const { finished, listed, outcome } = scene;
    const { caller } = await gateway.newTenant();
    const end = { status: 'cancelled' as const, finished, list_unfinished: listed };
    const jobId = await submitHalfDone(gateway, caller, { total: 10, finished, end });
    await caller.cancel(jobId, 'no longer needed');
    const { job, rows } = await soundEnd(gateway, caller, jobId);
    expect(job).toMatchObject({
      status: finished === 10 ? 'completed' : 'cancelled',
      counts: { completed: finished, cancelled: 10 - finished },
      cancel: { outcome, reason: 'no longer needed' },
    });
    for (const row of withStatus(rows, 'completed')) {
      expect(row.result).toMatchObject({ object: 'chat.completion' });
      expect(Number(row.cost)).toBeGreaterThan(0);
    }
    for (const row of withStatus(rows, 'cancelled')) {
      expect(row).toMatchObject({ cost: '0.00', error: { class: 'cancelled', code: 'provider_cancelled' } });
    }
  },
);

test.each([
  { twiceTo: 'output' as const, omit: { first: 3, file: 'error' as const }, completed: 5 },
  { twiceTo: 'error' as const, omit: { file: 'error' as const }, completed: 5 },
  { twiceTo: 'output' as const, omit: { first: 2, file: 'output' as const }, completed: 3 },
])('C-06: of 25 items in flight at the cancel each ends once (twice to $twiceTo, left out: $omit)', async (scene) => {
  const { caller } = await gateway.newTenant();
  const jobId = await submitHalfDone(gateway, caller, { total: 25, finished: 5 });
  const twice = { file: 'output' as const, to: scene.twiceTo };
  await gateway.simulator.faults(openai('batch:results', { duplicate_lines: twice, omit_lines: scene.omit }));
  await caller.cancel(jobId);
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({
    status: 'cancelled',
    counts: { completed: scene.completed, cancelled: 25 - scene.completed },
    unmatched_lines: 0,
  });
});
