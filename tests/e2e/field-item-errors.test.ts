import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../harness/gateway.ts';
import { completion, resultLine } from '../harness/openai-lines.ts';
import { prompts } from '../harness/provider-side.ts';
import { soundEnd, submitAnswered } from '../harness/sound-end.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterEach(() => gateway.simulator.clearFaults());
afterAll(() => gateway.stop());

const ERRORS = [
  ['[[sim:error=server_error]]', 'provider_error', 'provider_server_error'],
  ['[[sim:error=overloaded]]', 'provider_error', 'provider_overloaded'],
  ['[[sim:error=timeout]]', 'provider_error', 'provider_timeout'],
  ['[[sim:error=rate_limit]]', 'rate_limited', 'rate_limited'],
  ['[[sim:error=insufficient_quota]]', 'provider_error', 'provider_account_exhausted'],
  ['[[sim:error=billing]]', 'provider_error', 'provider_account_exhausted'],
  ['[[sim:error=unauthorized]]', 'provider_error', 'provider_credential_rejected'],
  ['[[sim:error=forbidden]]', 'provider_error', 'provider_credential_rejected'],
  ['[[sim:error=context_length]]', 'validation', 'context_too_long'],
  ['[[sim:invalid]]', 'validation', 'invalid_request'],
  ['[[sim:safety]]', 'safety_blocked', 'safety_blocked'],
  ['[[sim:missing]]', 'missing_result', 'missing_result'],
] as const;

test('R-14: every failed item tells its class and code, and the job how many there are of each class', async () => {
  const { caller } = await gateway.newTenant();
  const jobId = await caller.submitPrompts([...ERRORS.map(([mark]) => mark), 'a good one']);
  const { job, rows } = await soundEnd(gateway, caller, jobId);
  expect(rows.map((row) => [row.error?.class, row.error?.code])).toEqual([
    ...ERRORS.map(([, failureClass, code]) => [failureClass, code]),
    [undefined, undefined],
  ]);
  expect(job).toMatchObject({ status: 'completed_with_errors', counts: { completed: 1, failed: 12 } });
  expect(job.failures).toEqual({
    provider_error: 7,
    rate_limited: 1,
    validation: 2,
    safety_blocked: 1,
    missing_result: 1,
  });
});

test('R-14: items that failed for want of credit are told in our words, and in the provider’s where the tenant may see them', async () => {
  const { caller, tenantId } = await gateway.newTenant();
  const jobId = await caller.submitPrompts(prompts(3, '[[sim:error=insufficient_quota]]'));
  const { job, rows } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'failed', error: { code: 'provider_account_exhausted' } });
  for (const row of rows) {
    expect(row).toMatchObject({ result: null, error: { code: 'provider_account_exhausted' } });
    expect(row.error?.message).toMatch(/credit/);
    expect(JSON.stringify(row)).not.toContain('credit_balance');
  }
  await gateway.database.db.pool.query(
    `UPDATE tenants SET policy = '{"expose_provider_errors": true}' WHERE tenant_id = $1`,
    [tenantId],
  );
  for (const row of await caller.results(jobId)) {
    expect(row.error).toMatchObject({ provider: { code: 'credit_balance_exhausted', status: 429 } });
  }
});

test('R-15: answers without content are told apart by why they are empty, and charged by their usage', async () => {
  const { caller } = await gateway.newTenant();
  const usage = { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 };
  const jobId = await submitAnswered(gateway, caller, 7, (id) => [
    resultLine(id(1), completion({ text: '', stop: 'length', usage })),
    resultLine(id(2), completion({ text: '', stop: 'stop', usage })),
    resultLine(id(3), completion({ text: null, stop: 'content_filter', usage })),
    resultLine(id(4), completion({ text: 'half an ans', stop: 'content_filter', usage })),
    resultLine(id(5), { ...completion({ usage }), choices: [] }),
    resultLine(id(6), { object: 'chat.completion', usage }),
    resultLine(id(7), { ...completion({ usage }), choices: [{ index: 0, finish_reason: 'stop' }] }),
  ]);
  const { job, rows } = await soundEnd(gateway, caller, jobId);
  expect(rows.map((row) => row.error?.code ?? row.status)).toEqual([
    'completed',
    'completed',
    'safety_blocked',
    'completed',
    'malformed_result',
    'malformed_result',
    'malformed_result',
  ]);
  expect(rows[0]?.result).toMatchObject({ choices: [{ finish_reason: 'length', message: { content: '' } }] });
  expect(rows[3]?.result).toMatchObject({ choices: [{ finish_reason: 'content_filter' }] });
  expect(rows.map((row) => row.cost)).toEqual(Array(7).fill('0.000105'));
  expect(job.cost.settled).toBe('0.000735');
});

test('R-15: a blocked answer of the responses endpoint is safety_blocked, a cut one completed', async () => {
  const { caller } = await gateway.newTenant();
  const jobId = await caller.createJob({ endpoint: 'responses' });
  await caller.append(jobId, [
    { custom_id: 'row_1', request: { input: 'one [[sim:safety]]', max_output_tokens: 100 } },
    { custom_id: 'row_2', request: { input: 'two [[sim:chars=4000]]', max_output_tokens: 16 } },
    { custom_id: 'row_3', request: { input: 'three', max_output_tokens: 100 } },
  ]);
  await caller.submit(jobId);
  const { rows } = await soundEnd(gateway, caller, jobId);
  expect(rows.map((row) => row.error?.code ?? row.status)).toEqual(['safety_blocked', 'completed', 'completed']);
  expect(rows[1]?.result).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } });
  expect(rows.every((row) => Number(row.cost) > 0)).toBe(true);
});
