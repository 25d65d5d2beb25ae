import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Fault } from '../../../simulators/faults.ts';
import { ANTHROPIC, atEach, type ChatTarget, GEMINI } from '../../harness/chat-targets.ts';
import { eventually } from '../../harness/eventually.ts';
import { type Caller, type JobAnswer, startGateway, type TestGateway } from '../../harness/gateway.ts';
import { batchAt, batchesAt, createsOf, gapsBetween } from '../../harness/provider-calls.ts';
import { faultAt, prompts } from '../../harness/provider-side.ts';
import { soundEnd, submitHeld } from '../../harness/sound-end.ts';

const BOTH = [ANTHROPIC, GEMINI];
const WAIT_LIMIT_MS = 6_000;
const USUAL = {
  anthropic: { queuedRequestLimit: 200_000 },
  gemini: { enqueuedTokenLimit: 1_000_000_000, missingInputStatus: 400 },
};

let gateway: TestGateway;
let caller: Caller;
beforeAll(async () => {
  gateway = await startGateway({
    settings: { capacityRetryMs: 100, waitLimitMs: WAIT_LIMIT_MS, createDeadlineMs: 600, listingLagMs: 300 },
  });
  ({ caller } = await gateway.newTenant());
});
afterEach(async () => {
  await gateway.simulator.clearFaults();
  await gateway.simulator.settings(USUAL);
});
afterAll(() => gateway.stop());

type More = Pick<Fault, 'times' | 'match'>;

const script = ({ provider }: ChatTarget, route: string, action: Fault['action'], more?: More) =>
  gateway.simulator.faults(faultAt(provider, route, action, more));

async function waitsFor(jobId: string, reason: string): Promise<JobAnswer> {
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

const anthropicError = (status: number, type: string, message: string, details?: object, headers = {}) => ({
  status,
  body: { type: 'error', error: { type, message, ...(details && { details }) }, request_id: 'req_1' },
  headers,
});
const geminiError = (code: number, status: string, message: string, details?: object[]) => ({
  status: code,
  body: { error: { code, message, status, ...(details && { details }) } },
});
const retryIn = (delay: string) => [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: delay }];

const SLOW_DOWN = new Map<ChatTarget, Fault['action']>([
  [
    ANTHROPIC,
    anthropicError(
      429,
      'rate_limit_error',
      'Slow down.',
      { error_code: 'ramp_limit_exceeded' },
      { 'retry-after': '1' },
    ),
  ],
  [GEMINI, geminiError(429, 'RESOURCE_EXHAUSTED', 'Slow down.', retryIn('1.2s'))],
]);

test('S-02: a create that is refused with 429 is sent again after the wait that is asked for, in a header or a detail', async () => {
  await atEach(BOTH, async (target) => {
    await script(target, 'batches.create', SLOW_DOWN.get(target) ?? {}, { times: 2 });
    const jobId = await caller.submitPrompts(prompts(3), { model: target.model });
    expectNothingLost(await waitsFor(jobId, 'provider_rate_limit'));
    const { job } = await soundEnd(gateway, caller, jobId);
    expect(job).toMatchObject({ status: 'completed', waiting: null });
    const gaps = gapsBetween(await createsOf(gateway, jobId));
    expect(gaps).toHaveLength(2);
    expect(gaps.every((gapMs) => gapMs >= 1_000)).toBe(true);
    expect(await batchesAt(gateway, jobId)).toHaveLength(1);
  });
});

interface Parked {
  readonly target: ChatTarget;
  readonly reason: 'provider_account' | 'credential_refused';
  readonly action: Fault['action'];
}

const parked = (target: ChatTarget, reason: Parked['reason'], actions: Fault['action'][]): Parked[] =>
  actions.map((action) => ({ target, reason, action }));

const PARKED: readonly Parked[] = [
  ...parked(ANTHROPIC, 'provider_account', [
    anthropicError(429, 'rate_limit_error', 'Limit reached.', { error_code: 'enforced_spend_limit_reached' }),
    anthropicError(400, 'invalid_request_error', 'You have reached your specified API usage limits.'),
    anthropicError(402, 'billing_error', 'Your credit balance is too low.'),
  ]),
  ...parked(ANTHROPIC, 'credential_refused', [
    anthropicError(401, 'authentication_error', 'invalid x-api-key'),
    anthropicError(403, 'permission_error', 'Your credential may not use this.'),
  ]),
  ...parked(GEMINI, 'provider_account', [
    geminiError(429, 'RESOURCE_EXHAUSTED', 'Your prepayment credits are depleted.'),
    geminiError(400, 'FAILED_PRECONDITION', 'Please enable billing on project 1 in Google AI Studio.'),
  ]),
  ...parked(GEMINI, 'credential_refused', [
    geminiError(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.'),
    geminiError(403, 'PERMISSION_DENIED', 'The caller does not have permission.'),
  ]),
];

const GEMINI_MODELS = ['gemini-2.5-flash', 'gemini-2.5-flash-lite', 'gemini-3.5-flash', 'gemini-2.5-pro'];

/** A job for each scene, each refused in its own way for ever: told apart at Anthropic by its size, at Gemini by its model. */
function submitRefused(scenes: readonly Parked[]) {
  return Promise.all(
    scenes.map(async ({ target, action, reason }) => {
      const place = scenes.filter((scene) => scene.target === target).findIndex((scene) => scene.action === action);
      const size = target === ANTHROPIC ? place + 1 : 2;
      const model = target === ANTHROPIC ? target.model : `gemini/${GEMINI_MODELS[place]}`;
      const match: Record<string, string> =
        target === ANTHROPIC ? { items: String(size) } : { model: GEMINI_MODELS[place] ?? '' };
      await script(target, 'batches.create', action, { times: 'always', match });
      return { jobId: await caller.submitPrompts(prompts(size), { model }), reason };
    }),
  );
}

test('S-02: jobs refused for the account or the key are parked, visibly, until somebody has acted', async () => {
  const jobs = await submitRefused(PARKED);
  await Promise.all(jobs.map(async ({ jobId, reason }) => expectNothingLost(await waitsFor(jobId, reason))));
  await gateway.simulator.clearFaults();
  for (const { jobId } of jobs) {
    const { job } = await soundEnd(gateway, caller, jobId);
    expect(job).toMatchObject({ status: 'completed', waiting: null });
    expect(await batchesAt(gateway, jobId)).toHaveLength(1);
  }
});

test('S-02: what is refused for as long as the gateway waits ends with its reason, and gives the hold back', async () => {
  const codes = { provider_account: 'provider_account_exhausted', credential_refused: 'provider_credential_rejected' };
  const scenes = [PARKED[0], PARKED[3], PARKED[5], PARKED[7]].filter((scene) => scene !== undefined);
  for (const { jobId, reason } of await submitRefused(scenes)) {
    const { job, rows } = await soundEnd(gateway, caller, jobId);
    expect(job).toMatchObject({ status: 'failed', error: { code: codes[reason] }, cost: { settled: '0.00' } });
    expect(rows.every((row) => row.error?.code === codes[reason])).toBe(true);
    expect(await batchesAt(gateway, jobId)).toEqual([]);
  }
});

test('S-02: a job parked for its credential is cancelled on request, and nothing of it was ever made', async () => {
  await atEach(BOTH, async (target) => {
    await script(target, '*', { status: 401 }, { times: 'always' });
    const jobId = await caller.submitPrompts(prompts(2), { model: target.model });
    await waitsFor(jobId, 'credential_refused');
    await caller.cancel(jobId);
    const { job } = await soundEnd(gateway, caller, jobId);
    expect(job).toMatchObject({ status: 'cancelled', counts: { cancelled: 2 }, cancel: { outcome: 'effective' } });
    expect(await batchesAt(gateway, jobId)).toEqual([]);
  });
});

test('S-02: a create refused as invalid ends the job as rejected, with the words for operators alone', async () => {
  const words = 'batch.unknown_field: is not known';
  const actions = new Map<ChatTarget, Fault['action']>([
    [ANTHROPIC, anthropicError(400, 'invalid_request_error', words)],
    [GEMINI, geminiError(400, 'INVALID_ARGUMENT', words)],
  ]);
  await atEach(BOTH, async (target) => {
    await script(target, 'batches.create', actions.get(target) ?? {});
    const jobId = await caller.submitPrompts(prompts(2), { model: target.model });
    const { job, rows } = await soundEnd(gateway, caller, jobId);
    expect(job).toMatchObject({ status: 'failed', error: { code: 'provider_rejected' }, failures: { validation: 2 } });
    expect(JSON.stringify([job, rows])).not.toContain('unknown_field');
    expect(await gateway.operator.call('GET', `/v1/operator/jobs/${jobId}`)).toMatchObject({
      shards: [
        { batches: [{ create_outcome: 'refused', native_errors: [{ message: expect.stringContaining(words) }] }] },
      ],
    });
  });
});

interface OperatorAnswer {
  shards: { state: string; item_count: number }[];
  capacity: { known_limit: { items: number | null; input_tokens: number | null }; last_reason: string | null }[];
}

const operatorView = (jobId: string) => gateway.operator.call<OperatorAnswer>('GET', `/v1/operator/jobs/${jobId}`);

test('S-01: a job waits for the queue that another fills, and runs when that one has ended', async () => {
  await gateway.simulator.settings({ anthropic: { queuedRequestLimit: 10 }, gemini: { enqueuedTokenLimit: 30 } });
  await atEach(BOTH, async (target) => {
    const first = await submitHeld(gateway, caller, prompts(6), target);
    const second = await caller.submitPrompts(prompts(6), { model: target.model });
    expectNothingLost(await waitsFor(second, 'provider_capacity'));
    const [capacity] = (await operatorView(second)).capacity;
    expect(capacity?.last_reason).toMatch(/limit/);
    if (target === ANTHROPIC) expect(capacity?.known_limit.items).toBe(10);
    await first.letGo();
    for (const jobId of [first.jobId, second]) {
      const { job } = await soundEnd(gateway, caller, jobId);
      expect(job).toMatchObject({ status: 'completed', waiting: null });
      expect(await batchesAt(gateway, jobId)).toHaveLength(1);
    }
  });
});

const QUEUE_FULL = anthropicError(
  429,
  'rate_limit_error',
  "This request would exceed your organization's limit of 200000 batch requests in the queue.",
);

test('S-01: a full queue of Anthropic that others fill leaves a small shard whole, however often it is refused', async () => {
  await script(ANTHROPIC, 'batches.create', QUEUE_FULL, { times: 5 });
  const jobId = await caller.submitPrompts(prompts(4), { model: 'anthropic/claude-haiku-4-5' });
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'completed', counts: { completed: 4 } });
  expect((await operatorView(jobId)).shards.map(({ item_count }) => item_count)).toEqual([4]);
  expect(await createsOf(gateway, jobId)).toHaveLength(6);
});

test('S-01: a batch of Gemini that fails for a full queue is made again until there is room', async () => {
  const errors = [{ code: 'RESOURCE_EXHAUSTED', message: 'The limit of enqueued tokens is reached.' }];
  await script(GEMINI, 'batches.create', { end_state: { status: 'failed', errors } }, { times: 2 });
  const jobId = await caller.submitPrompts(prompts(4), { model: 'gemini/gemini-2.5-flash-lite' });
  expectNothingLost(await waitsFor(jobId, 'provider_capacity'));
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'completed', counts: { completed: 4 } });
  expect(await createsOf(gateway, jobId)).toHaveLength(3);
});

test('S-02: an upload to Gemini that is answered with anything but a file is sent again, and only then a create', async () => {
  for (const action of [
    { status: 503 },
    { error_object_200: true as const },
    { status: 401 },
    { drop_before: true as const },
  ]) {
    await script(GEMINI, 'files.upload.start', action);
  }
  for (const action of [{ cut: { after_bytes: 10 } }, { status: 500 }, { drop_after: true as const }]) {
    await script(GEMINI, 'files.upload.chunk', action);
  }
  const jobId = await caller.submitPrompts(prompts(2), { model: GEMINI.model });
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'completed', counts: { completed: 2 } });
  expect(await gateway.simulator.remainingFaults()).toEqual([]);
  expect(await createsOf(gateway, jobId)).toHaveLength(1);
});

test('S-02: an input file that Gemini no longer has is uploaded anew', async () => {
  await gateway.simulator.settings({ gemini: { missingInputStatus: 404 } });
  await script(GEMINI, 'batches.create', geminiError(429, 'RESOURCE_EXHAUSTED', 'Slow down.', retryIn('1s')));
  const jobId = await caller.submitPrompts(prompts(2), { model: GEMINI.model });
  await waitsFor(jobId, 'provider_rate_limit');
  const [create] = await createsOf(gateway, jobId);
  const file = String(create?.facts['input_file_id']);
  await fetch(`${gateway.geminiUrl}/v1beta/${file}`, { method: 'DELETE', headers: { 'x-goog-api-key': 'sim-key' } });
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job.status).toBe('completed');
  const last = (await createsOf(gateway, jobId)).at(-1);
  expect(last?.facts['input_file_id']).not.toBe(file);
  expect(await batchAt(gateway, jobId)).toMatchObject({ status: GEMINI.endedStatus });
});
