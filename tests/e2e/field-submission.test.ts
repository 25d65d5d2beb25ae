import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Fault } from '../../simulators/faults.ts';
import { CHAT, EMBEDDINGS, MODERATIONS, type OpenAiEndpoint, RESPONSES, submitTo } from '../harness/endpoints.ts';
import { eventually } from '../harness/eventually.ts';
import { type Caller, type JobAnswer, startGateway, type TestGateway } from '../harness/gateway.ts';
import { createsOf, gapsBetween, uploadsOf } from '../harness/provider-calls.ts';
import { batchesOf, batchOf, openai, prompts } from '../harness/provider-side.ts';
import { soundEnd } from '../harness/sound-end.ts';

const WAIT_LIMIT_MS = 5_000;
const LISTING_LAG_MS = 500;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({
    settings: {
      capacityRetryMs: 200,
      waitLimitMs: WAIT_LIMIT_MS,
      createDeadlineMs: 1_000,
      listingLagMs: LISTING_LAG_MS,
      providerLostAfterMs: 2_000,
    },
  });
});
afterEach(async () => {
  await gateway.simulator.clearFaults();
  await gateway.simulator.settings({ openai: { enqueuedTokenLimit: 2_000_000_000 } });
});
afterAll(() => gateway.stop());

const QUEUE_FULL = { status: 'failed' as const, errors: [{ code: 'token_limit_exceeded', message: 'queue is full' }] };

interface Scenario {
  readonly target: OpenAiEndpoint;
  readonly action: Fault['action'];
  readonly times?: Fault['times'];
}

/** A job for each scenario, all under way at once, each with its own fault on the create. */
async function submitAll(caller: Caller, scenarios: readonly Scenario[]): Promise<string[]> {
  const faults = scenarios.map(({ target, action, times = 1 }) =>
    openai('batches.create', action, { times, match: { endpoint: target.native } }),
  );
  await gateway.simulator.faults(...faults);
  return Promise.all(scenarios.map(({ target }) => submitTo(caller, target, prompts(2))));
}

async function waitsFor(caller: Caller, jobId: string, reason: string): Promise<JobAnswer> {
  return eventually(async () => {
    const job = await caller.job(jobId);
    return job.waiting?.reason === reason && job;
  });
}

function expectNothingLost(job: JobAnswer): void {
  expect(job.counts).toMatchObject({ completed: 0, failed: 0, expired: 0, cancelled: 0 });
  expect(job.cost.held).toBe(job.cost.reserved);
  expect(job.error).toBeNull();
}

test('S-01: a batch that fails for a full queue is made again until there is room, its items and its hold untouched', async () => {
  const { caller } = await gateway.newTenant();
  await gateway.simulator.faults(openai('batches.create', { end_state: QUEUE_FULL }, { times: 3 }));
  const jobId = await caller.submitPrompts(prompts(4));
  expectNothingLost(await waitsFor(caller, jobId, 'provider_capacity'));
  await batchOf(gateway, jobId, () => true);
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'completed', counts: { completed: 4, failed: 0 }, waiting: null });
  const creates = await createsOf(gateway, jobId);
  expect(creates).toHaveLength(4);
  expect(new Set(creates.map(({ facts }) => facts['input_file_id'])).size).toBe(4);
  expect(gapsBetween(creates).every((gapMs) => gapMs >= 200)).toBe(true);
});

test('S-01: a job waits for the queue that another fills, and runs when that one has ended', async () => {
  const { simulator } = gateway;
  const { caller } = await gateway.newTenant();
  await simulator.settings({ openai: { enqueuedTokenLimit: 40 } });
  await simulator.faults(openai('batches.create', { stuck: { state: 'in_progress' } }));
  const first = await caller.submitPrompts(prompts(6));
  const { id } = await batchOf(gateway, first, (batch) => batch.status === 'in_progress');
  const second = await caller.submitPrompts(prompts(6));
  expectNothingLost(await waitsFor(caller, second, 'provider_capacity'));
  await simulator.batch(id, { stuck: null });
  for (const jobId of [first, second]) {
    expect((await soundEnd(gateway, caller, jobId)).job.status).toBe('completed');
  }
});

test('S-01, S-02: what is refused for as long as the gateway waits ends with its reason, and gives the hold back', async () => {
  const { caller } = await gateway.newTenant();
  const quota = {
    status: 429,
    body: { error: { code: 'insufficient_quota', type: 'insufficient_quota', message: 'no' } },
  };
  const scenarios = [
    { target: CHAT, action: { end_state: QUEUE_FULL }, times: 'always', reason: 'provider_capacity' },
    { target: RESPONSES, action: { status: 401 }, times: 'always', reason: 'credential_refused' },
    { target: EMBEDDINGS, action: { status: 429 }, times: 'always', reason: 'provider_rate_limit' },
    { target: MODERATIONS, action: quota, times: 'always', reason: 'provider_account' },
  ] as const;
  const jobs = await submitAll(caller, scenarios);
  await Promise.all(
    scenarios.map(async ({ reason }, index) => expectNothingLost(await waitsFor(caller, jobs[index] ?? '', reason))),
  );
  const ends = await Promise.all(jobs.map((jobId) => soundEnd(gateway, caller, jobId)));
  expect(ends.map(({ job }) => [job.status, job.error?.code])).toEqual([
    ['failed', 'provider_queue_full'],
    ['failed', 'provider_credential_rejected'],
    ['failed', 'provider_queue_full'],
    ['failed', 'provider_account_exhausted'],
  ]);
  for (const { job, rows } of ends) {
    expect(job.counts.failed).toBe(2);
    expect(job.cost.settled).toBe('0.00');
    expect(rows.every((row) => row.error?.message !== '')).toBe(true);
  }
  const creates = await createsOf(gateway, jobs[2] ?? '');
  expect(creates.length).toBeLessThan(WAIT_LIMIT_MS / 200);
});

test('S-02: a create refused with 429 is sent again after exactly the wait the provider asks for, from the same file', async () => {
  const { caller } = await gateway.newTenant();
  await gateway.simulator.faults(
    openai('batches.create', { status: 429, headers: { 'retry-after': '1' } }, { times: 3 }),
  );
  const jobId = await caller.submitPrompts(prompts(3));
  expectNothingLost(await waitsFor(caller, jobId, 'provider_rate_limit'));
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'completed', waiting: null });
  const gaps = gapsBetween(await createsOf(gateway, jobId));
  expect(gaps).toHaveLength(3);
  expect(gaps.every((gapMs) => gapMs >= 1_000)).toBe(true);
  expect(await uploadsOf(gateway, jobId)).toHaveLength(1);
});

test('S-02: a create that fails with 5xx without acting leads to one batch in the end', async () => {
  const { caller } = await gateway.newTenant();
  const jobs = await submitAll(caller, [
    { target: CHAT, action: { status: 500 } },
    { target: RESPONSES, action: { status: 503, headers: { 'retry-after': '1' } } },
    { target: EMBEDDINGS, action: { status: 504 } },
    {
      target: MODERATIONS,
      action: { status: 200, body: '<html>welcome</html>', headers: { 'content-type': 'text/html' } },
    },
  ]);
  for (const jobId of jobs) {
    const { job } = await soundEnd(gateway, caller, jobId);
    expect(job).toMatchObject({ status: 'completed', counts: { completed: 2 } });
    expect(await batchesOf(gateway, jobId)).toHaveLength(1);
  }
});

test.each([400, 422])(
  'S-02: a create refused with %i ends the job as rejected, with the words for those who may see them',
  async (status) => {
    const { caller, tenantId } = await gateway.newTenant();
    const message = 'The file file-8Hk2Lq9zXb31 has no requests for this organization.';
    await gateway.simulator.faults(
      openai('batches.create', { status, body: { error: { message, code: 'bad_file' } } }),
    );
    const jobId = await caller.submitPrompts(prompts(2));
    const { job, rows } = await soundEnd(gateway, caller, jobId);
    expect(job).toMatchObject({ status: 'failed', error: { code: 'provider_rejected' }, failures: { validation: 2 } });
    expect(JSON.stringify(rows)).not.toContain('has no requests');
    const seen = await gateway.operator.call<unknown>('GET', `/v1/operator/jobs/${jobId}`);
    expect(JSON.stringify(seen)).toContain(message);
    await gateway.database.db.pool.query(
      `UPDATE tenants SET policy = '{"expose_provider_errors": true}' WHERE tenant_id = $1`,
      [tenantId],
    );
    const shown = JSON.stringify(await caller.results(jobId));
    expect(shown).toContain('The file file-… has no requests');
  },
);
