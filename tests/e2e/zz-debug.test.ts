import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { formatAmount, parseAmount } from '../../domain/money.ts';
import { eventually } from '../harness/eventually.ts';
import { type Caller, type JobAnswer, startGateway, type TestGateway } from '../harness/gateway.ts';
import { batchesOf, openai, prompts } from '../harness/provider-side.ts';
import { soundEnd } from '../harness/sound-end.ts';

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
  await gateway.restartWorkers();
  await Promise.all(drafts.slice(0, 3).map((jobId) => caller.cancel(jobId)));
  for (const jobId of drafts) await soundEnd(gateway, caller, jobId).catch(async (error) => {
    for (const id of [`batch-job/${jobId}`, `provider-batch/${jobId}/1`]) {
      const h = await gateway.client.workflow.getHandle(id).fetchHistory().catch(() => null);
      for (const e of h?.events ?? []) console.log(id.slice(0,14), String(e.eventId), new Date(Number(e.eventTime?.seconds)*1000).toISOString(), e.eventType, JSON.stringify(e.activityTaskScheduledEventAttributes?.activityType ?? e.activityTaskTimedOutEventAttributes ?? e.activityTaskFailedEventAttributes ?? e.workflowTaskFailedEventAttributes ?? ''));
      const d = await gateway.client.workflow.getHandle(id).describe().catch(() => null);
      console.log(JSON.stringify(d?.raw.pendingActivities, (k, v) => typeof v === 'bigint' ? String(v) : v));
    }
    throw error;
  });
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

