import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { JournalEntry } from '../../../simulators/journal.ts';
import { CHAT, EMBEDDINGS, MODERATIONS, RESPONSES, submitTo } from '../../harness/endpoints.ts';
import { eventually } from '../../harness/eventually.ts';
import { type Caller, type JobAnswer, startGateway, type TestGateway } from '../../harness/gateway.ts';
import { batchesOf, openai, prompts } from '../../harness/provider-side.ts';
import { soundEnd, withStatus } from '../../harness/sound-end.ts';

const LOST_AFTER_MS = 3_000;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ settings: { providerLostAfterMs: LOST_AFTER_MS } });
});
afterEach(() => gateway.simulator.clearFaults());
afterAll(() => gateway.stop());

const NOT_FOUND = { not_found: true as const };
const A_PAGE = { status: 200, body: '<html>Sign in</html>', headers: { 'content-type': 'text/html' } };

/** Every poll of a job's batches, oldest first. */
async function pollsOf(jobId: string): Promise<JournalEntry[]> {
  const ids = (await batchesOf(gateway, jobId)).map(({ id }) => id);
  const entries = await gateway.simulator.journal({ route: 'batches.retrieve' });
  return entries.filter(({ facts }) => ids.includes(String(facts['batch_id'])));
}

async function waitsFor(caller: Caller, jobId: string, reason: string): Promise<JobAnswer> {
  return eventually(async () => {
    const job = await caller.job(jobId);
    return job.waiting?.reason === reason ? job : null;
  });
}

async function eventsOf(jobId: string): Promise<string[]> {
  const { rows } = await gateway.database.db.pool.query<{ type: string }>(
    `SELECT type FROM events WHERE data ->> 'job_id' = $1 ORDER BY event_id`,
    [jobId],
  );
  return rows.map(({ type }) => type);
}

async function chargesOf(caller: Caller, jobId: string): Promise<number> {
  const path = `/v1/batch-jobs/${jobId}/ledger?level=item&limit=100`;
  const { data } = await caller.call<{ data: { event: string }[] }>('GET', path);
  return data.filter(({ event }) => event === 'batch.item.settled').length;
}

test('P-01: a batch that is unknown now and then, before its end and after, is polled on and settled once', async () => {
  const { simulator } = gateway;
  const { caller } = await gateway.newTenant();
  await simulator.faults(
    openai('batches.retrieve', NOT_FOUND, { skip: 1, match: { batch_status: 'completed' } }),
    openai('batches.retrieve', NOT_FOUND),
    openai('batches.retrieve', { native_status: 'in_progress' }),
    openai('batches.retrieve', NOT_FOUND),
    openai('files.content', NOT_FOUND, { times: 2 }),
  );
  const jobId = await caller.submitPrompts(prompts(5));
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'completed', counts: { completed: 5 }, waiting: null, warnings: [] });
  expect(await simulator.remainingFaults()).toEqual([]);
  expect(await chargesOf(caller, jobId)).toBe(5);
});

test('P-01: a poll that is answered with anything but the batch is only asked again', async () => {
  const { simulator } = gateway;
  const { caller } = await gateway.newTenant();
  await simulator.faults(
    openai('batches.retrieve', { status: 500 }),
    openai('batches.retrieve', { drop_before: true }),
    openai('batches.retrieve', A_PAGE),
    openai('batches.retrieve', { error_object_200: true }),
    // Two denials would make a lost batch of it on a slow machine; any answer in between takes the first one back.
    openai('batches.retrieve', { native_status: 'paused' }),
    openai('batches.retrieve', { status: 400 }),
    openai('batches.retrieve', { native_status: 'paused' }),
    openai('batches.retrieve', { status: 429, headers: { 'retry-after-ms': '600' } }),
  );
  const jobId = await caller.submitPrompts(prompts(3));
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'completed', counts: { completed: 3 }, waiting: null });
  expect(await simulator.remainingFaults()).toEqual([]);
  const polls = await pollsOf(jobId);
  const limited = polls.findIndex(({ status }) => status === 429);
  expect((polls[limited + 1]?.at ?? 0) - (polls[limited]?.at ?? 0)).toBeGreaterThanOrEqual(600);
});

test('P-01: an answer from before the end, read while results come in, hides no result', async () => {
  const { caller } = await gateway.newTenant();
  const stale = { native_status: 'in_progress' };
  await gateway.simulator.faults(
    openai('batches.retrieve', stale, { skip: 1, times: 'always', match: { batch_status: 'completed' } }),
  );
  const jobId = await caller.submitPrompts(prompts(3));
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'completed', counts: { completed: 3 } });
});

test('P-02: a batch that the provider denies for a bounded time is lost, one that it merely cannot tell of is not', async () => {
  const { simulator } = gateway;
  const { caller } = await gateway.newTenant();
  const of = (native: string) => ({ match: { endpoint: native } });
  const outageFor700Ms = { status: 503, headers: { 'retry-after-ms': '700' } };
  await simulator.faults(
    openai('batches.retrieve', { error_object_200: true }, { ...of(CHAT.native), times: 'always' }),
    openai('batches.retrieve', NOT_FOUND, { ...of(RESPONSES.native), times: 3 }),
    openai('batches.retrieve', { status: 503 }, { ...of(RESPONSES.native), times: 3 }),
    openai('batches.retrieve', NOT_FOUND, { ...of(RESPONSES.native), times: 'always' }),
    openai('batches.retrieve', outageFor700Ms, { ...of(EMBEDDINGS.native), times: 6 }),
    openai('batches.retrieve', NOT_FOUND, of(EMBEDDINGS.native)),
  );
  const [errorObject, unknown, outage] = await Promise.all(
    [CHAT, RESPONSES, EMBEDDINGS].map((target) => submitTo(caller, target, prompts(2))),
  );
  const lost = [errorObject ?? '', unknown ?? ''];
  for (const denied of await Promise.all(lost.map((jobId) => waitsFor(caller, jobId, 'batch_denied')))) {
    expect(denied.cost.held).toBe(denied.cost.reserved);
  }
  for (const jobId of lost) {
    const { job, rows } = await soundEnd(gateway, caller, jobId);
    expect(job).toMatchObject({ status: 'failed', error: { code: 'provider_lost' }, counts: { failed: 2 } });
    expect(job.cost.settled).toBe('0.00');
    for (const row of rows) expect(row.error).toMatchObject({ class: 'provider_error', code: 'provider_lost' });
    expect((await eventsOf(jobId)).filter((type) => type === 'batch_job.failed')).toHaveLength(1);
    const polls = await pollsOf(jobId);
    // The bound counts from when the first denial was written down, a little after it was sent.
    expect((polls.at(-1)?.at ?? 0) - (polls[0]?.at ?? 0)).toBeGreaterThan(LOST_AFTER_MS / 2);
  }
  const { job } = await soundEnd(gateway, caller, outage ?? '');
  expect(job).toMatchObject({ status: 'completed', counts: { completed: 2 }, waiting: null });
  const polls = await pollsOf(outage ?? '');
  const refused = polls.filter(({ status }) => status === 503);
  expect((refused.at(-1)?.at ?? 0) - (refused[0]?.at ?? 0)).toBeGreaterThan(LOST_AFTER_MS);
});

test('P-02: a batch denied only after its end is collected from what its last poll said', async () => {
  const { caller } = await gateway.newTenant();
  await gateway.simulator.faults(
    openai('batches.retrieve', NOT_FOUND, { skip: 1, times: 'always', match: { batch_status: 'completed' } }),
  );
  const jobId = await caller.submitPrompts([...prompts(2), '[[sim:error=server_error]]']);
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'completed_with_errors', counts: { completed: 2, failed: 1 } });
});

test('P-04: counts and money come from our own items and lines, whatever the provider counts', async () => {
  const { caller } = await gateway.newTenant();
  const scenarios = [
    { target: CHAT, counts: 'zero' },
    { target: RESPONSES, counts: 'strings' },
    { target: EMBEDDINGS, counts: 'absent' },
    { target: MODERATIONS, counts: { total: 3, completed: 9_000, failed: -1 } },
  ] as const;
  await gateway.simulator.faults(
    ...scenarios.map(({ target, counts }) =>
      openai('batches.retrieve', { counts }, { times: 'always', match: { endpoint: target.native } }),
    ),
  );
  const jobs = await Promise.all(scenarios.map(({ target }) => submitTo(caller, target, prompts(10))));
  for (const [index, jobId] of jobs.entries()) {
    const { job, rows } = await soundEnd(gateway, caller, jobId);
    expect(job).toMatchObject({ status: 'completed', counts: { total: 10, completed: 10, failed: 0 } });
    expect(job.progress?.completed ?? 10).toBe(10);
    const isFree = scenarios[index]?.target === MODERATIONS;
    expect(rows.every(({ cost }) => (cost === '0.00') === isFree)).toBe(true);
    expect(await chargesOf(caller, jobId)).toBe(10);
  }
});

test('P-05: files that disagree with the counts win, whichever way, and the disagreement is shown', async () => {
  const { caller } = await gateway.newTenant();
  const scenarios = [
    { target: CHAT, counts: { total: 10, completed: 10, failed: 0 } },
    { target: RESPONSES, counts: { total: 10, completed: 2, failed: 8 } },
    { target: EMBEDDINGS, counts: { total: 9, completed: 8, failed: 1 } },
  ];
  await gateway.simulator.faults(
    ...scenarios.map(({ target, counts }) =>
      openai('batches.retrieve', { counts }, { times: 'always', match: { endpoint: target.native } }),
    ),
  );
  const texts = [...prompts(8), ...prompts(2, '[[sim:error=server_error]]')];
  const jobs = await Promise.all(scenarios.map(({ target }) => submitTo(caller, target, texts)));
  for (const jobId of jobs) {
    const { job, rows } = await soundEnd(gateway, caller, jobId);
    expect(job).toMatchObject({ status: 'completed_with_errors', counts: { completed: 8, failed: 2 } });
    expect(job.warnings?.map(({ code }) => code)).toContain('provider_counts_disagree');
    expect(withStatus(rows, 'failed').every(({ cost }) => cost === '0.00')).toBe(true);
  }
});

test('P-07: jobs that end without any output end once each, and hold up neither each other nor the next', async () => {
  const { caller } = await gateway.newTenant();
  const nothing = { no_output_file: true as const, no_error_file: true as const };
  await gateway.simulator.faults(
    openai('batch:results', nothing, { times: 'always', match: { endpoint: RESPONSES.native } }),
  );
  const empty = await Promise.all(Array.from({ length: 20 }, () => submitTo(caller, RESPONSES, prompts(2))));
  const normal = await submitTo(caller, CHAT, prompts(2));
  expect((await soundEnd(gateway, caller, normal)).job.status).toBe('completed');
  await Promise.all(
    empty.map(async (jobId) => {
      const { job, rows } = await soundEnd(gateway, caller, jobId);
      expect(job).toMatchObject({ status: 'failed', counts: { failed: 2 }, failures: { missing_result: 2 } });
      expect(rows.every(({ error }) => error?.code === 'missing_result')).toBe(true);
      expect((await eventsOf(jobId)).filter((type) => type === 'batch_job.failed')).toHaveLength(1);
      expect((await pollsOf(jobId)).length).toBeLessThan(30);
    }),
  );
});

test('P-07: a result file that is gone for good ends the job after a bounded time', async () => {
  const { caller } = await gateway.newTenant();
  await gateway.simulator.faults(openai('files.content', NOT_FOUND, { times: 'always', match: { kind: 'output' } }));
  const jobId = await caller.submitPrompts([...prompts(2), '[[sim:error=server_error]]']);
  const { job, rows } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({
    status: 'failed',
    counts: { failed: 3 },
    failures: { missing_result: 2, provider_error: 1 },
  });
  expect(rows.map(({ error }) => error?.code)).toEqual(['missing_result', 'missing_result', 'provider_server_error']);
});
