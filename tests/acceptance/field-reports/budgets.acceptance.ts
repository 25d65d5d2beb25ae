import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { formatAmount, parseAmount } from '../../../domain/money.ts';
import { eventually } from '../../harness/eventually.ts';
import { type Caller, type JobAnswer, startGateway, type TestGateway } from '../../harness/gateway.ts';
import { batchesOf, openai, prompts } from '../../harness/provider-side.ts';
import { soundEnd } from '../../harness/sound-end.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterEach(() => gateway.simulator.clearFaults());
afterAll(() => gateway.stop());

/** A draft of chat requests. */
async function draft(
  caller: Caller,
  count: number,
  request: object = { max_tokens: 200 },
  model = 'openai/gpt-4o-mini',
) {
  const jobId = await caller.createJob({ model });
  const item = (content: string, index: number) => ({
    custom_id: `row_${index + 1}`,
    request: { messages: [{ role: 'user', content }], ...request },
  });
  await caller.append(jobId, prompts(count).map(item));
  return jobId;
}

async function submitAnswer(caller: Caller, jobId: string, waitSeconds = 10) {
  const headers = { prefer: `wait=${waitSeconds}` };
  const response = await caller.fetch(`/v1/batch-jobs/${jobId}/submit`, { method: 'POST', headers });
  return { status: response.status, body: (await response.json()) as JobAnswer & { error: unknown } };
}

async function expectBalanced(caller: Caller): Promise<void> {
  const { limit, held, settled, available } = await caller.budget();
  expect(formatAmount(parseAmount(held) + parseAmount(settled) + parseAmount(available))).toBe(limit);
}

/** What one draft of ten requests holds. */
async function reservationOfTen(): Promise<bigint> {
  const { caller } = await gateway.newTenant();
  const jobId = await draft(caller, 10);
  const { quote } = await caller.call<{ quote: { reserved: string } }>('GET', `/v1/batch-jobs/${jobId}/quote`);
  return parseAmount(quote.reserved);
}

test('B-01: whatever way twenty jobs end, nothing stays held and every hold has its end', async () => {
  const { caller, tenantId } = await gateway.newTenant({ limit: '10' });
  const refusal = { error: { message: 'no', type: 'invalid_request_error', param: null, code: null } };
  await gateway.simulator.faults(
    openai('batches.create', { status: 400, body: refusal }, { times: 2 }),
    openai('batches.create', { status: 401 }),
    openai('batches.create', { drop_before: true }, { times: 2 }),
    openai('batches.create', { drop_after: true }, { times: 2 }),
    openai('batches.create', { end_state: { status: 'failed', errors: [{ code: 'invalid_json_line', line: null }] } }),
    openai('batches.create', { end_state: { status: 'expired', finished: 1 } }),
    openai('batches.create', { status: 503 }),
    openai('files.create', { drop_after: true }),
    openai('files.create', { status: 500 }),
  );
  const drafts = await Promise.all(Array.from({ length: 16 }, () => draft(caller, 3)));
  const unknown = await Promise.all(Array.from({ length: 2 }, () => draft(caller, 3, {}, 'openai/no-such-model')));
  const bad = await Promise.all(Array.from({ length: 2 }, () => draft(caller, 3, { stream: true })));
  const answers = await Promise.all([...drafts, ...unknown, ...bad].map((jobId) => submitAnswer(caller, jobId)));
  expect(answers.map(({ status }) => status)).toEqual([...Array(16).fill(202), ...Array(4).fill(422)]);
  await Promise.all(drafts.slice(0, 3).map((jobId) => caller.cancel(jobId)));
  for (const jobId of drafts) await soundEnd(gateway, caller, jobId);
  const budget = await caller.budget();
  expect(budget.held).toBe('0.00');
  await expectBalanced(caller);
  const { rows } = await gateway.database.db.pool.query(
    `SELECT count(*)::int AS holds, count(*) FILTER (WHERE released IS NULL OR released_at IS NULL)::int AS open
     FROM holds JOIN batch_jobs USING (job_id) WHERE tenant_id = $1`,
    [tenantId],
  );
  expect(rows).toEqual([{ holds: 16, open: 0 }]);
  expect(await gateway.operator.call('GET', '/v1/operator/ledger/verify')).toMatchObject({ ok: true });
});

test('B-02: held, charged and available are the limit at every read while shards settle', async () => {
  const { caller } = await gateway.newTenant({ limit: '1' });
  const jobId = await caller.submitPrompts(prompts(12, '[[sim:usage=1000,100]]'), {
    execution: { max_items_per_shard: 2 },
  });
  let reads = 0;
  await eventually(
    async () => {
      await expectBalanced(caller).catch((error: unknown) => {
        throw new Error(`read ${reads}`, { cause: error });
      });
      reads += 1;
      return (await caller.job(jobId)).completed_at !== null;
    },
    { timeoutMs: 60_000 },
  );
  expect(reads).toBeGreaterThan(10);
  await soundEnd(gateway, caller, jobId);
  expect(await caller.budget()).toMatchObject({ held: '0.00', settled: '0.00126', available: '0.99874' });
});

test('B-04: a job whose price is unknown is refused by dry run and submit alike, and holds nothing', async () => {
  const { caller } = await gateway.newTenant();
  const jobId = await draft(caller, 2, {}, 'openai/gpt-nobody-prices');
  const verdict = await caller.call<{ ok: boolean; findings: unknown[] }>('POST', `/v1/batch-jobs/${jobId}/validate`);
  expect(verdict).toMatchObject({ ok: false, findings: [{ error: 'price_unknown', field: 'model' }] });
  expect(await submitAnswer(caller, jobId)).toMatchObject({ status: 422, body: { error: 'price_unknown' } });
  expect(await caller.job(jobId)).toMatchObject({ status: 'draft', cost: { reserved: '0.00' } });
  expect((await caller.budget()).held).toBe('0.00');
});

test.each([
  { request: {}, outputTokens: 2_048 },
  { request: { reasoning_effort: 'high' }, outputTokens: 8_192 },
  { request: { n: 3 }, outputTokens: 6_144 },
  { request: { max_tokens: 50, n: 3 }, outputTokens: 150 },
])('B-04: $request holds for $outputTokens tokens of output', async ({ request, outputTokens }) => {
  const { caller } = await gateway.newTenant();
  const jobId = await draft(caller, 2, request);
  const path = `/v1/batch-jobs/${jobId}/quote`;
  const { quote } = await caller.call<{ quote: { output_tokens: number; reserved: string } }>('GET', path);
  expect(quote.output_tokens).toBe(2 * outputTokens);
  expect(Number(quote.reserved)).toBeGreaterThan(0);
});

test('B-05: while the budget cannot be locked nothing is decided, held or sent', async () => {
  const { caller, budgetId } = await gateway.newTenant();
  const jobId = await draft(caller, 3);
  const client = await gateway.database.db.pool.connect();
  try {
    await client.query('BEGIN');
    await client.query('SELECT FROM budgets WHERE budget_id = $1 FOR UPDATE', [budgetId]);
    expect(await submitAnswer(caller, jobId, 1)).toMatchObject({ status: 202, body: { status: 'validating' } });
    expect(await caller.job(jobId)).toMatchObject({ status: 'validating', cost: { reserved: '0.00', held: '0.00' } });
    expect(await caller.budget()).toMatchObject({ held: '0.00' });
    expect(await batchesOf(gateway, jobId)).toEqual([]);
    await client.query('ROLLBACK');
  } finally {
    client.release(true);
  }
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job.status).toBe('completed');
});

test('B-05: while holds cannot be written nothing is held or sent, and the job goes on once they can', async () => {
  const { caller } = await gateway.newTenant();
  const jobId = await draft(caller, 3);
  const { pool } = gateway.database.db;
  await pool.query('CREATE TRIGGER away BEFORE INSERT ON holds EXECUTE FUNCTION refuse_change()');
  try {
    expect(await submitAnswer(caller, jobId, 1)).toMatchObject({ status: 202, body: { status: 'validating' } });
    expect(await caller.job(jobId)).toMatchObject({ status: 'validating', cost: { reserved: '0.00', held: '0.00' } });
    expect(await caller.budget()).toMatchObject({ held: '0.00' });
    expect(await batchesOf(gateway, jobId)).toEqual([]);
  } finally {
    await pool.query('DROP TRIGGER away ON holds');
  }
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job.status).toBe('completed');
  expect(await batchesOf(gateway, jobId)).toHaveLength(1);
});

test('B-06: a third job that no longer fits is refused, and what the first two committed shows at once', async () => {
  const reserved = await reservationOfTen();
  const limit = formatAmount((reserved * 5n) / 2n);
  const { caller } = await gateway.newTenant({ limit });
  await gateway.simulator.faults(openai('batches.create', { stuck: { state: 'in_progress' } }, { times: 'always' }));
  const jobs = await Promise.all([draft(caller, 10), draft(caller, 10), draft(caller, 10)]);
  const [first = '', second = '', third = ''] = jobs;
  expect((await submitAnswer(caller, first)).status).toBe(202);
  expect(await caller.budget()).toMatchObject({ held: formatAmount(reserved) });
  expect((await submitAnswer(caller, second)).status).toBe(202);
  expect(await caller.budget()).toMatchObject({ held: formatAmount(2n * reserved), settled: '0.00' });
  expect(await submitAnswer(caller, third)).toMatchObject({ status: 402, body: { error: 'budget_exceeded' } });
  expect(await caller.job(third)).toMatchObject({ status: 'draft' });
  await expectBalanced(caller);
  await caller.cancel(first);
  await soundEnd(gateway, caller, first);
  expect((await submitAnswer(caller, third)).status).toBe(202);
  await Promise.all([caller.cancel(second), caller.cancel(third)]);
  for (const jobId of [second, third]) await soundEnd(gateway, caller, jobId);
  expect((await caller.budget()).held).toBe('0.00');
});

test('B-06: of six jobs submitted at once no more are taken than fit', async () => {
  const reserved = await reservationOfTen();
  const { caller } = await gateway.newTenant({ limit: formatAmount((reserved * 5n) / 2n) });
  await gateway.simulator.faults(openai('batches.create', { stuck: { state: 'in_progress' } }, { times: 'always' }));
  const jobs = await Promise.all(Array.from({ length: 6 }, () => draft(caller, 10)));
  const answers = await Promise.all(jobs.map((jobId) => submitAnswer(caller, jobId)));
  expect(answers.map(({ status }) => status).toSorted()).toEqual([202, 202, 402, 402, 402, 402]);
  expect(await caller.budget()).toMatchObject({ held: formatAmount(2n * reserved) });
  const taken = jobs.filter((_, index) => answers[index]?.status === 202);
  await Promise.all(taken.map((jobId) => caller.cancel(jobId)));
  for (const jobId of taken) await soundEnd(gateway, caller, jobId);
});
