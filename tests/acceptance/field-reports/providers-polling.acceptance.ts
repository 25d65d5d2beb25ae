import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Fault } from '../../../simulators/faults.ts';
import { ANTHROPIC, atEach, type ChatTarget, GEMINI } from '../../harness/chat-targets.ts';
import { eventually } from '../../harness/eventually.ts';
import { type Caller, type JobAnswer, startGateway, type TestGateway } from '../../harness/gateway.ts';
import { batchesAt, gapsBetween } from '../../harness/provider-calls.ts';
import { faultAt, prompts } from '../../harness/provider-side.ts';
import { DOWNLOAD_ROUTES } from '../../harness/simulated-provider.ts';
import { soundEnd, submitHeld, withStatus } from '../../harness/sound-end.ts';

const LOST_AFTER_MS = 3_000;
const BOTH = [ANTHROPIC, GEMINI];
const NOT_FOUND = { not_found: true as const };
const A_PAGE = { status: 200, body: '<html>Sign in</html>', headers: { 'content-type': 'text/html' } };
const DAY_MS = 24 * 3_600_000;

let gateway: TestGateway;
let caller: Caller;
beforeAll(async () => {
  gateway = await startGateway({ settings: { providerLostAfterMs: LOST_AFTER_MS } });
  ({ caller } = await gateway.newTenant());
});
afterEach(() => gateway.simulator.clearFaults());
afterAll(() => gateway.stop());

const script = (
  { provider }: ChatTarget,
  ...faults: [route: string, Fault['action'], Pick<Fault, 'times' | 'skip' | 'match'>?][]
) => gateway.simulator.faults(...faults.map(([route, action, more]) => faultAt(provider, route, action, more)));

async function waitsFor(jobId: string, reason: string): Promise<JobAnswer> {
  return eventually(async () => {
    const job = await caller.job(jobId);
    return job.waiting?.reason === reason ? job : null;
  });
}

async function pollsOf(jobId: string) {
  const ids = (await batchesAt(gateway, jobId)).map(({ id }) => id);
  const entries = await gateway.simulator.journal({ route: 'batches.retrieve' });
  return entries.filter(({ facts }) => ids.includes(String(facts['batch_id'])));
}

async function leftAt({ provider }: ChatTarget) {
  return (await gateway.simulator.remainingFaults()).filter((fault) => fault.provider === provider);
}

async function chargesOf(jobId: string): Promise<number> {
  const path = `/v1/batch-jobs/${jobId}/ledger?level=item&limit=100`;
  const { data } = await caller.call<{ data: { event: string }[] }>('GET', path);
  return data.filter(({ event }) => event === 'batch.item.settled').length;
}

/** A word for a running batch, and one that nobody knows. */
const WORDS = new Map<ChatTarget, { running: string; strange: string }>([
  [ANTHROPIC, { running: 'in_progress', strange: 'paused' }],
  [GEMINI, { running: 'BATCH_STATE_RUNNING', strange: 'BATCH_STATE_UPDATING' }],
]);

test('P-01: a batch that is unknown now and then, before its end and after, is polled on and settled once', async () => {
  await atEach(BOTH, async (target) => {
    await script(
      target,
      ['batches.retrieve', NOT_FOUND, { skip: 1, match: { batch_status: target.endedStatus } }],
      ['batches.retrieve', NOT_FOUND],
      ['batches.retrieve', { native_status: WORDS.get(target)?.running ?? '' }],
      ['batches.retrieve', NOT_FOUND],
      [DOWNLOAD_ROUTES[target.provider], NOT_FOUND, { times: 2 }],
    );
    const jobId = await caller.submitPrompts(prompts(5), { model: target.model });
    const { job } = await soundEnd(gateway, caller, jobId);
    expect(job).toMatchObject({ status: 'completed', counts: { completed: 5 }, waiting: null, warnings: [] });
    expect(await leftAt(target)).toEqual([]);
    expect(await chargesOf(jobId)).toBe(5);
  });
});

test('P-01: a poll that is answered with anything but the batch is only asked again', async () => {
  await atEach(BOTH, async (target) => {
    await script(
      target,
      ['batches.retrieve', { status: 500 }],
      ['batches.retrieve', { drop_before: true }],
      ['batches.retrieve', { error_object_200: true }],
      ['batches.retrieve', A_PAGE],
      ['batches.retrieve', { status: 400 }],
      ['batches.retrieve', { status: 529 }],
      ['batches.retrieve', { native_status: WORDS.get(target)?.strange ?? '' }, { times: 2 }],
      ['batches.retrieve', { status: 429, body: {}, headers: { 'retry-after': '1' } }],
    );
    const jobId = await caller.submitPrompts(prompts(3), { model: target.model });
    const { job } = await soundEnd(gateway, caller, jobId);
    expect(job).toMatchObject({ status: 'completed', counts: { completed: 3 }, waiting: null });
    expect(await leftAt(target)).toEqual([]);
    const polls = await pollsOf(jobId);
    const limited = polls.findIndex(({ status }) => status === 429);
    expect(gapsBetween(polls.slice(limited, limited + 2))[0]).toBeGreaterThanOrEqual(1_000);
  });
});

test('P-02: a batch that is denied for longer than the bound is lost, one that is merely out of reach is not', async () => {
  await atEach(BOTH, async (target) => {
    const [errorObject, unknown, outage] = await Promise.all([
      submitHeld(gateway, caller, prompts(2), target),
      submitHeld(gateway, caller, prompts(3), target),
      submitHeld(gateway, caller, prompts(4), target),
    ]);
    const of = ({ id }: { id: string }, times: Fault['times'] = 'always') => ({ times, match: { batch_id: id } });
    const outageForASecond = { status: 503, body: {}, headers: { 'retry-after': '1' } };
    await script(
      target,
      ['batches.retrieve', { error_object_200: true }, of(errorObject)],
      ['batches.retrieve', NOT_FOUND, of(unknown)],
      ['batches.retrieve', outageForASecond, of(outage, 5)],
    );
    for (const { jobId } of [errorObject, unknown]) {
      const denied = await waitsFor(jobId, 'batch_denied');
      expect(denied.cost.held).toBe(denied.cost.reserved);
    }
    for (const { jobId } of [errorObject, unknown]) {
      const { job, rows } = await soundEnd(gateway, caller, jobId);
      expect(job).toMatchObject({ status: 'failed', error: { code: 'provider_lost' }, cost: { settled: '0.00' } });
      for (const row of rows) expect(row.error).toMatchObject({ class: 'provider_error', code: 'provider_lost' });
    }
    await outage.letGo();
    const { job } = await soundEnd(gateway, caller, outage.jobId);
    expect(job).toMatchObject({ status: 'completed', counts: { completed: 4 }, waiting: null });
  });
});

test('P-02: a batch denied only after its end is collected from what its last poll said', async () => {
  const { provider, model, endedStatus } = GEMINI;
  await gateway.simulator.faults(
    faultAt(provider, 'batches.retrieve', NOT_FOUND, {
      skip: 1,
      times: 'always',
      match: { batch_status: endedStatus },
    }),
  );
  const jobId = await caller.submitPrompts([...prompts(2), '[[sim:error=server_error]]'], { model });
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'completed_with_errors', counts: { completed: 2, failed: 1 } });
});

/** Counts of ten that are none, or nonsense. */
const ODD_COUNTS = new Map<ChatTarget, readonly NonNullable<Fault['action']['counts']>[]>([
  [
    ANTHROPIC,
    [
      'zero',
      'strings',
      'absent',
      { succeeded: 9_000, errored: -1 },
      { succeeded: 7, canceled: 3 },
      { succeeded: 7, expired: 3 },
      { succeeded: 0, processing: 10 },
    ],
  ],
  [
    GEMINI,
    [
      'zero',
      'strings',
      'absent',
      { successfulRequestCount: '9000', failedRequestCount: '-1' },
      { successfulRequestCount: 'ten' },
      { requestCount: 3, pendingRequestCount: 3 },
    ],
  ],
]);

test('P-04: counts and money come from our own items and lines, whatever the provider counts', async () => {
  await atEach(BOTH, async (target) => {
    const scenes = (ODD_COUNTS.get(target) ?? []).map(async (counts) => ({
      ...(await submitHeld(gateway, caller, prompts(10, '[[sim:usage=1000,100]]'), target)),
      counts,
    }));
    const held = await Promise.all(scenes);
    for (const { id, counts } of held) {
      await script(target, ['batches.retrieve', { counts }, { times: 'always', match: { batch_id: id } }]);
    }
    for (const { letGo } of held) await letGo();
    for (const { jobId } of held) {
      const { job, rows } = await soundEnd(gateway, caller, jobId);
      expect(job).toMatchObject({ status: 'completed', counts: { total: 10, completed: 10, failed: 0 } });
      expect(rows.map((row) => row.cost)).toEqual(Array(10).fill(target.costOf1000And100));
      expect(await chargesOf(jobId)).toBe(10);
    }
  });
});

const EIGHT_AND_TWO = [...prompts(8), ...prompts(2, '[[sim:error=server_error]]')];

test.each([
  {
    counted: 'all well',
    anthropic: { succeeded: 10, errored: 0 },
    gemini: { successfulRequestCount: '10', failedRequestCount: '0' },
  },
  {
    counted: 'most as failed',
    anthropic: { succeeded: 2, errored: 8 },
    gemini: { successfulRequestCount: '2', failedRequestCount: '8' },
  },
])('P-05: results win over counts that tell $counted, and the disagreement is shown', async ({ anthropic, gemini }) => {
  await script(ANTHROPIC, [
    'batches.retrieve',
    { counts: anthropic },
    { times: 'always', match: { batch_status: 'ended' } },
  ]);
  await script(GEMINI, ['batches.retrieve', { counts: gemini }, { times: 'always' }]);
  await atEach(BOTH, async ({ model }) => {
    const { job, rows } = await soundEnd(gateway, caller, await caller.submitPrompts(EIGHT_AND_TWO, { model }));
    expect(job).toMatchObject({ status: 'completed_with_errors', counts: { completed: 8, failed: 2 } });
    expect(job.warnings?.map(({ code }) => code)).toContain('provider_counts_disagree');
    expect(withStatus(rows, 'failed').every(({ cost }) => cost === '0.00')).toBe(true);
  });
});

test('P-07: jobs that end without any output end once each, and hold up neither each other nor the next', async () => {
  await atEach(BOTH, async (target) => {
    await script(target, ['batch:results', { no_output_file: true }, { times: 6 }]);
    const empty = await Promise.all(
      Array.from({ length: 6 }, () => caller.submitPrompts(prompts(2), { model: target.model })),
    );
    for (const jobId of empty) {
      const { job } = await soundEnd(gateway, caller, jobId);
      expect(job).toMatchObject({ status: 'failed', counts: { failed: 2 }, failures: { missing_result: 2 } });
      expect((await pollsOf(jobId)).length).toBeLessThan(30);
    }
    const normal = await caller.submitPrompts(prompts(2), { model: target.model });
    expect((await soundEnd(gateway, caller, normal)).job.status).toBe('completed');
  });
});

test('P-07: results that are gone for good end the job after a bounded time', async () => {
  await atEach(BOTH, async (target) => {
    await script(target, [DOWNLOAD_ROUTES[target.provider], NOT_FOUND, { times: 'always' }]);
    const jobId = await caller.submitPrompts(prompts(3), { model: target.model });
    expect((await waitsFor(jobId, 'provider_trouble')).counts.failed).toBe(0);
    const { job } = await soundEnd(gateway, caller, jobId);
    expect(job).toMatchObject({ status: 'failed', failures: { missing_result: 3 }, cost: { settled: '0.00' } });
  });
});

test('P-07: results that are named at another host are not asked for there, and read once they are named well', async () => {
  let calls = 0;
  const stranger = createServer((_request, response) => {
    calls += 1;
    response.end();
  });
  await new Promise<void>((done) => stranger.listen(0, '127.0.0.1', done));
  const { port } = stranger.address() as AddressInfo;
  const away = { results_url: `http://127.0.0.1:${port}/v1/messages/batches/x/results` };
  await script(ANTHROPIC, ['batches.retrieve', away, { times: 3, match: { batch_status: 'ended' } }]);
  const jobId = await caller.submitPrompts(prompts(3), { model: ANTHROPIC.model });
  const { job } = await soundEnd(gateway, caller, jobId);
  await new Promise((done) => stranger.close(done));
  expect(calls).toBe(0);
  expect(job).toMatchObject({ status: 'completed', counts: { completed: 3 } });
});

test('S-06: results out of reach are waited for, and nothing is sent or settled a second time', async () => {
  await atEach(BOTH, async (target) => {
    await script(target, [DOWNLOAD_ROUTES[target.provider], { status: 503 }, { times: 2 }]);
    const jobId = await caller.submitPrompts(prompts(3), { model: target.model });
    const waiting = await waitsFor(jobId, 'provider_trouble');
    expect(waiting).toMatchObject({ status: 'finalizing', counts: { completed: 0 }, error: null });
    expect(waiting.cost.held).toBe(waiting.cost.reserved);
    const { job } = await soundEnd(gateway, caller, jobId);
    expect(job).toMatchObject({ status: 'completed', counts: { completed: 3 }, waiting: null });
    expect(await batchesAt(gateway, jobId)).toHaveLength(1);
  });
});

test('P-07: results archived before they could be read are missing, and free', async () => {
  const held = await submitHeld(gateway, caller, prompts(3), ANTHROPIC);
  const running = { native_status: 'in_progress' };
  await script(ANTHROPIC, ['batches.retrieve', running, { times: 'always', match: { batch_id: held.id } }]);
  await held.letGo();
  await gateway.simulator.advance(29 * DAY_MS + 60_000);
  await gateway.simulator.clearFaults();
  const { job } = await soundEnd(gateway, caller, held.jobId);
  expect(job).toMatchObject({ status: 'failed', failures: { missing_result: 3 }, cost: { settled: '0.00' } });
});
