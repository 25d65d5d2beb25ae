import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Fault } from '../../../simulators/faults.ts';
import { CHAT, EMBEDDINGS, MODERATIONS, type OpenAiEndpoint, RESPONSES, submitTo } from '../../harness/endpoints.ts';
import { eventually } from '../../harness/eventually.ts';
import {
  type Caller,
  type JobAnswer,
  type LedgerAnswer,
  startGateway,
  type TestGateway,
} from '../../harness/gateway.ts';
import { createsOf, gapsBetween, uploadsOf } from '../../harness/provider-calls.ts';
import { batchesOf, batchOf, openai, prompts } from '../../harness/provider-side.ts';
import { soundEnd } from '../../harness/sound-end.ts';

const CAPACITY_RETRY_MS = 100;
const WAIT_LIMIT_MS = 4_000;
const CREATE_DEADLINE_MS = 600;
const LISTING_LAG_MS = 300;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({
    settings: {
      capacityRetryMs: CAPACITY_RETRY_MS,
      waitLimitMs: WAIT_LIMIT_MS,
      capacityWaitMs: WAIT_LIMIT_MS,
      createDeadlineMs: CREATE_DEADLINE_MS,
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
    return job.waiting?.reason === reason ? job : null;
  });
}

function expectNothingLost(job: JobAnswer): void {
  expect(job.counts).toMatchObject({ completed: 0, failed: 0, expired: 0, cancelled: 0 });
  expect(job.cost.held).toBe(job.cost.reserved);
  expect(job.error).toBeNull();
}

test('S-01: a batch that fails for a full queue is made again until there is room, its items and its hold untouched', async () => {
  const { caller } = await gateway.newTenant();
  await gateway.simulator.faults(openai('batches.create', { end_state: QUEUE_FULL }, { times: 2 }));
  const jobId = await caller.submitPrompts(prompts(4));
  expectNothingLost(await waitsFor(caller, jobId, 'provider_capacity'));
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'completed', counts: { completed: 4, failed: 0 }, waiting: null });
  const creates = await createsOf(gateway, jobId);
  expect(creates).toHaveLength(3);
  expect(new Set(creates.map(({ facts }) => facts['input_file_id'])).size).toBe(3);
  expect(gapsBetween(creates).every((gapMs) => gapMs >= CAPACITY_RETRY_MS)).toBe(true);
});

test('S-01: a job waits for the queue that another fills, and runs when that one has ended', async () => {
  const { simulator } = gateway;
  const { caller } = await gateway.newTenant();
  await simulator.settings({ openai: { enqueuedTokenLimit: 30 } });
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
  // A queue is a model's: the job that finds it full must not make another of the four wait for its turn.
  const elsewhere = { ...RESPONSES, model: 'openai/gpt-4.1-mini' };
  const scenarios = [
    { target: CHAT, action: { end_state: QUEUE_FULL }, times: 'always', reason: 'provider_capacity' },
    { target: elsewhere, action: { status: 401 }, times: 'always', reason: 'credential_refused' },
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
  expect(creates.length).toBeLessThan(WAIT_LIMIT_MS / CAPACITY_RETRY_MS / 2);
});

test('S-02: a create refused with 429 is sent again after exactly the wait the provider asks for, from the same file', async () => {
  const { caller } = await gateway.newTenant();
  await gateway.simulator.faults(
    openai('batches.create', { status: 429, headers: { 'retry-after': '1' } }, { times: 2 }),
  );
  const jobId = await caller.submitPrompts(prompts(3));
  expectNothingLost(await waitsFor(caller, jobId, 'provider_rate_limit'));
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'completed', waiting: null });
  const gaps = gapsBetween(await createsOf(gateway, jobId));
  expect(gaps).toHaveLength(2);
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

test('S-02: a create refused with 400 or 422 ends the job as rejected, with the words for those who may see them', async () => {
  const { caller, tenantId } = await gateway.newTenant();
  const message = 'The file file-8Hk2Lq9zXb31 has no requests for this organization.';
  const body = { error: { message, code: 'bad_file' } };
  const jobs = await submitAll(caller, [
    { target: CHAT, action: { status: 400, body } },
    { target: RESPONSES, action: { status: 422, body } },
  ]);
  for (const jobId of jobs) {
    const { job, rows } = await soundEnd(gateway, caller, jobId);
    expect(job).toMatchObject({ status: 'failed', error: { code: 'provider_rejected' }, failures: { validation: 2 } });
    expect(job.cost.settled).toBe('0.00');
    expect(JSON.stringify(rows)).not.toContain('has no requests');
    expect(await gateway.operator.call('GET', `/v1/operator/jobs/${jobId}`)).toMatchObject({
      shards: [
        { batches: [{ create_outcome: 'refused', native_errors: [{ message: expect.stringContaining(message) }] }] },
      ],
    });
  }
  await gateway.database.db.pool.query(
    `UPDATE tenants SET policy = '{"expose_provider_errors": true}' WHERE tenant_id = $1`,
    [tenantId],
  );
  const shown = JSON.stringify(await caller.results(jobs[0] ?? ''));
  expect(shown).toContain('The file file-… has no requests');
});

test('S-02: a create refused with 401 or 403 parks the job until the credential is good again', async () => {
  const { caller } = await gateway.newTenant();
  const jobs = await submitAll(caller, [
    { target: CHAT, action: { status: 401 }, times: 'always' },
    { target: RESPONSES, action: { status: 403 }, times: 'always' },
  ]);
  for (const jobId of jobs) expectNothingLost(await waitsFor(caller, jobId, 'credential_refused'));
  await gateway.simulator.clearFaults();
  for (const jobId of jobs) {
    expect((await soundEnd(gateway, caller, jobId)).job).toMatchObject({ status: 'completed', waiting: null });
  }
});

test('S-02: a job parked for its credential is cancelled on request, and nothing of it was ever made', async () => {
  const { caller } = await gateway.newTenant();
  await gateway.simulator.faults(openai('*', { status: 401 }, { times: 'always' }));
  const jobId = await caller.submitPrompts(prompts(2));
  await waitsFor(caller, jobId, 'credential_refused');
  await caller.cancel(jobId);
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'cancelled', counts: { cancelled: 2 }, cancel: { outcome: 'effective' } });
  expect(await batchesOf(gateway, jobId)).toEqual([]);
});

test('S-02: a credential refused while a batch runs parks the job visibly and loses nothing', async () => {
  const { simulator } = gateway;
  const { caller } = await gateway.newTenant();
  await simulator.faults(
    openai('batches.retrieve', { status: 401 }, { times: 8 }),
    openai('files.content', { status: 403 }),
  );
  const jobId = await caller.submitPrompts(prompts(2));
  await waitsFor(caller, jobId, 'credential_refused');
  await eventually(async () => {
    const { status, waiting } = await caller.job(jobId);
    return status === 'finalizing' && waiting?.reason === 'credential_refused';
  });
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'completed', counts: { completed: 2 }, waiting: null });
});

test('S-02: an upload that is answered with anything but a file is sent again, and only then a create', async () => {
  const { simulator } = gateway;
  const { caller } = await gateway.newTenant();
  const answers: Fault['action'][] = [
    { not_found: true },
    { cut: { after_bytes: 10 } },
    { status: 503 },
    { error_object_200: true },
    { status: 401 },
    { status: 429, headers: { 'retry-after-ms': '700' } },
  ];
  await simulator.faults(...answers.map((action) => openai('files.create', action)));
  const jobId = await caller.submitPrompts(prompts(2));
  expectNothingLost(await waitsFor(caller, jobId, 'provider_rate_limit'));
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'completed', counts: { completed: 2 } });
  expect(await simulator.remainingFaults()).toEqual([]);
  expect(await createsOf(gateway, jobId)).toHaveLength(1);
  expect((await uploadsOf(gateway, jobId)).filter(({ status }) => status === 200)).toHaveLength(1);
});

test('S-02: a create that does not know the file just uploaded is sent again from the same file', async () => {
  const { caller } = await gateway.newTenant();
  await gateway.simulator.faults(openai('batches.create', { not_found: true }));
  const jobId = await caller.submitPrompts(prompts(2));
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job.status).toBe('completed');
  expect(await uploadsOf(gateway, jobId)).toHaveLength(1);
  expect(await createsOf(gateway, jobId)).toHaveLength(2);
});

test('S-02: an input file that is gone is uploaded anew, and a job whose files are never known ends as rejected', async () => {
  const { simulator } = gateway;
  const { caller } = await gateway.newTenant();
  const later = { status: 429, headers: { 'retry-after': '1' } };
  const [gone, unknown] = await submitAll(caller, [
    { target: CHAT, action: later },
    { target: RESPONSES, action: { not_found: true }, times: 'always' },
  ]);
  await waitsFor(caller, gone ?? '', 'provider_rate_limit');
  const [upload] = await uploadsOf(gateway, gone ?? '');
  await fetch(`${gateway.openaiUrl}/files/${upload?.facts['file_id']}`, {
    method: 'DELETE',
    headers: { authorization: 'Bearer sim-key' },
  });
  expect((await soundEnd(gateway, caller, gone ?? '')).job.status).toBe('completed');
  expect(await uploadsOf(gateway, gone ?? '')).toHaveLength(2);
  const { job } = await soundEnd(gateway, caller, unknown ?? '');
  expect(job).toMatchObject({ status: 'failed', error: { code: 'provider_rejected' } });
  expect((await uploadsOf(gateway, unknown ?? '')).length).toBeGreaterThan(1);
  expect(await simulator.journal({ route: 'batches.cancel' })).toEqual([]);
});

test('S-04: a create that was carried out and never answered is found and adopted, however the answer was lost', async () => {
  const { caller } = await gateway.newTenant();
  const jobs = await submitAll(caller, [
    { target: CHAT, action: { drop_after: true } },
    { target: RESPONSES, action: { status_after: 500 } },
    { target: EMBEDDINGS, action: { status_after: 504 } },
    { target: MODERATIONS, action: { delay_ms: 3_000, delay_clock: 'real' } },
  ]);
  await Promise.all(
    jobs.map(async (jobId) => {
      expectNothingLost(await waitsFor(caller, jobId, 'confirming_submission'));
      const { job } = await soundEnd(gateway, caller, jobId);
      expect(job).toMatchObject({ status: 'completed', counts: { completed: 2 } });
      expect(await createsOf(gateway, jobId)).toHaveLength(1);
      expect(await batchesOf(gateway, jobId)).toHaveLength(1);
    }),
  );
});

test('S-04: a batch that the list shows late, or not in a page of its own, is adopted all the same', async () => {
  const { caller } = await gateway.newTenant();
  const jobs = await submitAll(caller, [
    { target: CHAT, action: { drop_after: true, list_lag_ms: CREATE_DEADLINE_MS + LISTING_LAG_MS / 2 } },
    { target: RESPONSES, action: { status_after: 502, list_lag_ms: CREATE_DEADLINE_MS + LISTING_LAG_MS / 2 } },
  ]);
  await Promise.all(jobs.map((jobId) => waitsFor(caller, jobId, 'confirming_submission')));
  // Asked to look at once: an early "no such batch" would be taken for the truth.
  for (const jobId of jobs) await gateway.operator.call('POST', `/v1/operator/jobs/${jobId}/poll-now`);
  for (const jobId of jobs) {
    expect((await soundEnd(gateway, caller, jobId)).job.status).toBe('completed');
    expect(await createsOf(gateway, jobId)).toHaveLength(1);
  }
});

test('S-04: a list that cannot be read says nothing of the batch, so no second one is made', async () => {
  const { simulator } = gateway;
  const { caller } = await gateway.newTenant();
  await simulator.faults(
    openai('batches.create', { drop_after: true }),
    openai('batches.list', { status: 503 }),
    openai('batches.list', { error_object_200: true }),
    openai('batches.list', { drop_before: true }),
    openai('batches.list', { status: 401 }),
  );
  const jobId = await caller.submitPrompts(prompts(2));
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job.status).toBe('completed');
  expect(await createsOf(gateway, jobId)).toHaveLength(1);
  expect(await simulator.remainingFaults()).toEqual([]);
});

test('S-04: a create that never arrived is looked for twice before another is sent, under a token of its own', async () => {
  const { simulator } = gateway;
  const { caller } = await gateway.newTenant();
  await simulator.faults(openai('batches.create', { drop_before: true }), openai('batches.list', { status: 503 }));
  const lookedBefore = (await simulator.journal({ route: 'batches.list' })).length;
  const jobId = await caller.submitPrompts(prompts(2));
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job.status).toBe('completed');
  const creates = await createsOf(gateway, jobId);
  expect(new Set(creates.map(({ facts }) => JSON.stringify(facts['metadata']))).size).toBe(2);
  expect(creates.map(({ status }) => status)).toEqual([null, 200]);
  const looks = (await simulator.journal({ route: 'batches.list' })).slice(lookedBefore);
  expect(looks.filter(({ status }) => status === 200)).toHaveLength(2);
  expect(looks.every(({ at }) => at < (creates[1]?.at ?? 0))).toBe(true);
});

const keyed = (key: string) => ({ headers: { 'idempotency-key': key } });
const DRAFT = { endpoint: 'chat.completions', model: 'openai/gpt-4o-mini' };

async function create(caller: Caller, key: string, json: unknown) {
  const response = await caller.fetch('/v1/batch-jobs', { method: 'POST', json, ...keyed(key) });
  return { status: response.status, body: (await response.json()) as JobAnswer & { error: string } };
}

test('S-05: creates with one idempotency key make one job, one after the other or all at once', async () => {
  const { caller } = await gateway.newTenant();
  const [first, again, other] = [
    await create(caller, 'a', DRAFT),
    await create(caller, 'a', DRAFT),
    await create(caller, 'a', { ...DRAFT, name: 'another' }),
  ];
  expect([first.status, again.status, other.status]).toEqual([201, 201, 409]);
  expect(again.body).toEqual(first.body);
  expect(other.body.error).toBe('idempotency_conflict');
  const twins = await Promise.all(Array.from({ length: 8 }, () => create(caller, 'b', DRAFT)));
  expect(twins.map(({ status }) => status)).toEqual(Array(8).fill(201));
  expect(new Set(twins.map(({ body }) => body.job_id)).size).toBe(1);
  const { data } = await caller.call<{ data: JobAnswer[] }>('GET', '/v1/batch-jobs');
  expect(data).toHaveLength(2);
});

test('S-05, X-07: submits of one job, with a key or without, at once or after its end, make one hold and one batch', async () => {
  const { caller } = await gateway.newTenant();
  const jobId = await caller.createJob();
  await caller.append(jobId, [{ custom_id: 'row_1', request: CHAT.request('hello') }]);
  const submit = async (key?: string) => {
    const path = `/v1/batch-jobs/${jobId}/submit`;
    return (await caller.fetch(path, { method: 'POST', ...(key === undefined ? {} : keyed(key)) })).status;
  };
  const statuses = await Promise.all([submit('k'), submit('k'), submit('k'), submit(), submit()]);
  expect(statuses.every((status) => status === 202 || status === 200)).toBe(true);
  expect(statuses).toContain(202);
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job.status).toBe('completed');
  expect(await submit()).toBe(200);
  expect([200, 202]).toContain(await submit('k'));
  expect(await createsOf(gateway, jobId)).toHaveLength(1);
  const ledger = `/v1/batch-jobs/${jobId}/ledger?level=job&limit=100`;
  const { data } = await caller.call<{ data: LedgerAnswer[] }>('GET', ledger);
  expect(data.filter(({ event }) => event === 'batch.reserved')).toHaveLength(1);
});

test('S-06: results that cannot be collected yet are waited for: nothing is sent or settled a second time', async () => {
  const { simulator } = gateway;
  const { caller } = await gateway.newTenant();
  await simulator.faults(openai('files.content', { status: 503 }, { times: 'always' }));
  const jobId = await caller.submitPrompts(prompts(3));
  await waitsFor(caller, jobId, 'provider_trouble');
  const path = `/v1/batch-jobs/${jobId}`;
  const answers = [
    await caller.fetch(`${path}/submit`, { method: 'POST' }),
    await caller.fetch(`${path}/items`, { method: 'POST', json: { items: [] } }),
    await caller.fetch(path, { method: 'DELETE' }),
    await caller.fetch(`${path}/validate`, { method: 'POST' }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 409, 409, 409]);
  const waiting = await caller.job(jobId);
  expectNothingLost(waiting);
  expect(waiting.status).toBe('finalizing');
  expect(await caller.results(jobId)).toEqual([]);
  await simulator.clearFaults();
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'completed', counts: { completed: 3 }, waiting: null });
  expect(await batchesOf(gateway, jobId)).toHaveLength(1);
  expect(await uploadsOf(gateway, jobId)).toHaveLength(1);
});
