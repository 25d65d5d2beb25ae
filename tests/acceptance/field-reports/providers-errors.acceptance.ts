import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { ANTHROPIC, anthropicMessage, atEach, type ChatTarget, GEMINI } from '../../harness/chat-targets.ts';
import { type ResultRow, startGateway, type TestGateway } from '../../harness/gateway.ts';
import { prompts } from '../../harness/provider-side.ts';
import { soundEnd, submitAnswered } from '../../harness/sound-end.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterEach(() => gateway.simulator.clearFaults());
afterAll(() => gateway.stop());

type Cases = readonly (readonly [mark: string, failureClass: string, code: string])[];

const COMMON: Cases = [
  ['[[sim:error=server_error]]', 'provider_error', 'provider_server_error'],
  ['[[sim:error=overloaded]]', 'provider_error', 'provider_overloaded'],
  ['[[sim:error=timeout]]', 'provider_error', 'provider_timeout'],
  ['[[sim:error=rate_limit]]', 'rate_limited', 'rate_limited'],
  ['[[sim:error=billing]]', 'provider_error', 'provider_account_exhausted'],
  ['[[sim:error=unauthorized]]', 'provider_error', 'provider_credential_rejected'],
  ['[[sim:error=forbidden]]', 'provider_error', 'provider_credential_rejected'],
  ['[[sim:error=context_length]]', 'validation', 'context_too_long'],
  ['[[sim:invalid]]', 'validation', 'invalid_request'],
  ['[[sim:safety]]', 'safety_blocked', 'safety_blocked'],
  ['[[sim:missing]]', 'missing_result', 'missing_result'],
];

test('R-14: every failed item tells its class and code, and the job how many there are of each class', async () => {
  const { caller } = await gateway.newTenant();
  await atEach([ANTHROPIC, GEMINI], async ({ model }) => {
    const jobId = await caller.submitPrompts([...COMMON.map(([mark]) => mark), 'a good one'], { model });
    const { job, rows } = await soundEnd(gateway, caller, jobId);
    expect(rows.map((row) => [row.error?.class, row.error?.code])).toEqual([
      ...COMMON.map(([, failureClass, code]) => [failureClass, code]),
      [undefined, undefined],
    ]);
    expect(job).toMatchObject({ status: 'completed_with_errors', counts: { completed: 1, failed: 11 } });
    expect(job.failures).toEqual({
      provider_error: 6,
      rate_limited: 1,
      validation: 2,
      safety_blocked: 1,
      missing_result: 1,
    });
  });
});

/** An error as Anthropic nests it in a result. */
const errored = (type: string, message: string, details?: object) => ({
  result: {
    type: 'errored',
    error: { type: 'error', error: { type, message, ...(details && { details }) }, request_id: 'req_1' },
  },
});
const CREDIT = 'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing.';

/** What a line says, the code it becomes, and the provider's own type and code as operators see them. */
type Lines = readonly (readonly [outcome: object, code: string, provider: object])[];

const ANTHROPIC_ERRORS: Lines = [
  [
    errored('invalid_request_error', CREDIT),
    'provider_account_exhausted',
    { type: 'invalid_request_error', message: CREDIT },
  ],
  [errored('billing_error', CREDIT), 'provider_account_exhausted', { type: 'billing_error' }],
  [
    errored('rate_limit_error', 'You have reached your spend limit.', { error_code: 'enforced_spend_limit_reached' }),
    'provider_account_exhausted',
    { type: 'rate_limit_error', code: 'enforced_spend_limit_reached' },
  ],
  [errored('rate_limit_error', 'Number of requests exceeds the limit.'), 'rate_limited', { type: 'rate_limit_error' }],
  [
    errored('overloaded_error', 'Overloaded'),
    'provider_overloaded',
    { type: 'overloaded_error', message: 'Overloaded' },
  ],
  [errored('api_error', 'Internal server error'), 'provider_server_error', { type: 'api_error' }],
  [errored('timeout_error', 'Timed out'), 'provider_timeout', { type: 'timeout_error' }],
  [
    errored('permission_error', 'No access to this model.'),
    'provider_credential_rejected',
    { type: 'permission_error' },
  ],
  [
    errored('authentication_error', 'invalid x-api-key'),
    'provider_credential_rejected',
    { type: 'authentication_error' },
  ],
  [errored('not_found_error', 'model: claude-none-1'), 'model_unavailable', { message: 'model: claude-none-1' }],
  [errored('request_too_large', 'Too large'), 'invalid_request', { type: 'request_too_large' }],
  [
    errored('invalid_request_error', 'messages.0.content: is bad'),
    'invalid_request',
    { message: 'messages.0.content: is bad' },
  ],
  [errored('invalid_request_error', 'prompt is too long: 3 tokens > 2 maximum'), 'context_too_long', {}],
  [errored('invalid_request_error', 'Output blocked by content filtering policy'), 'safety_blocked', {}],
  [
    errored('brand_new_error', 'Something else'),
    'unknown_provider_error',
    { type: 'brand_new_error', message: 'Something else' },
  ],
];

const rpcError = (code: number, message: string, details?: object[]) => ({
  error: { code, message, ...(details && { details }) },
});

const GEMINI_ERRORS: Lines = [
  [
    rpcError(8, 'Your prepayment credits are depleted.'),
    'provider_account_exhausted',
    { type: 'RESOURCE_EXHAUSTED', code: '8' },
  ],
  [rpcError(8, 'Resource has been exhausted (e.g. check quota).'), 'rate_limited', { type: 'RESOURCE_EXHAUSTED' }],
  [
    rpcError(14, 'The model is overloaded.'),
    'provider_overloaded',
    { type: 'UNAVAILABLE', message: 'The model is overloaded.' },
  ],
  [rpcError(13, 'An internal error has occurred.'), 'provider_server_error', { type: 'INTERNAL' }],
  [rpcError(4, 'Deadline expired.'), 'provider_timeout', { type: 'DEADLINE_EXCEEDED' }],
  [rpcError(7, 'The caller does not have permission.'), 'provider_credential_rejected', { type: 'PERMISSION_DENIED' }],
  [
    rpcError(3, 'API key expired. Please renew the API key.'),
    'provider_credential_rejected',
    { type: 'INVALID_ARGUMENT' },
  ],
  [rpcError(3, 'Request contains an invalid argument.'), 'invalid_request', { type: 'INVALID_ARGUMENT', code: '3' }],
  [rpcError(3, 'The input token count exceeds the maximum number of tokens allowed (9).'), 'context_too_long', {}],
  [rpcError(5, 'models/gemini-none is not found for API version v1beta.'), 'model_unavailable', { type: 'NOT_FOUND' }],
  [rpcError(429, 'Too many requests.'), 'rate_limited', { code: '429', status: 429 }],
  [rpcError(99, 'Something else'), 'unknown_provider_error', { message: 'Something else' }],
];

interface ShownRow extends ResultRow {
  error: ResultRow['error'] & { provider?: object };
}

test.each([
  { target: ANTHROPIC, lines: ANTHROPIC_ERRORS },
  { target: GEMINI, lines: GEMINI_ERRORS },
])(
  'R-14: what $target.provider says of a failed item is kept word for word for those who may see it',
  async (scene) => {
    const { target, lines } = scene;
    const { caller, tenantId } = await gateway.newTenant();
    const jobId = await submitAnswered(
      gateway,
      caller,
      lines.length,
      (id) => lines.map(([outcome], index) => target.line(id(index + 1), outcome)),
      target,
    );
    const { job, rows } = await soundEnd(gateway, caller, jobId);
    expect(rows.map((row) => row.error?.code)).toEqual(lines.map(([, code]) => code));
    expect(job).toMatchObject({ status: 'failed', counts: { failed: lines.length }, cost: { settled: '0.00' } });
    for (const row of rows) {
      expect(row.result).toBeNull();
      expect(row.error?.message).not.toBe('');
      expect(row.error).not.toHaveProperty('provider');
    }
    await gateway.database.db.pool.query(
      `UPDATE tenants SET policy = '{"expose_provider_errors": true}' WHERE tenant_id = $1`,
      [tenantId],
    );
    const shown = await caller.results(jobId);
    for (const [index, [, , provider]] of lines.entries()) {
      const customId = `row_${index + 1}`;
      const row = shown.find(({ custom_id: id }) => id === customId) as ShownRow | undefined;
      expect(row?.error.provider).toMatchObject(provider);
      const seen = await gateway.operator.call('GET', `/v1/operator/jobs/${jobId}/items/${customId}`);
      expect(seen).toMatchObject({ provider: target.provider, status: 'failed', native_error: provider });
    }
  },
);

test('R-14: a job of which everything failed for want of credit says so itself', async () => {
  const { caller } = await gateway.newTenant();
  await atEach([ANTHROPIC, GEMINI], async ({ model }) => {
    const jobId = await caller.submitPrompts(prompts(3, '[[sim:error=billing]]'), { model });
    const { job, rows } = await soundEnd(gateway, caller, jobId);
    expect(job).toMatchObject({ status: 'failed', error: { code: 'provider_account_exhausted' } });
    for (const row of rows) expect(row.error?.message).toMatch(/credit/);
  });
});

/** What an answer is, how its item ends, the finish reason it shows, and what it costs. */
type Answers = readonly (readonly [outcome: object, end: string, finish: string | null, cost: string])[];

const ANTHROPIC_USAGE = { input_tokens: 1000, output_tokens: 100 };
const message = (fields: object) => ({
  result: { type: 'succeeded', message: { ...anthropicMessage({ usage: ANTHROPIC_USAGE }), ...fields } },
});

const ANTHROPIC_ANSWERS: Answers = [
  [message({ content: [], stop_reason: 'refusal' }), 'safety_blocked', null, '0.00225'],
  [message({ stop_reason: 'refusal' }), 'completed', 'content_filter', '0.00225'],
  [message({ content: [], stop_reason: 'max_tokens' }), 'completed', 'length', '0.00225'],
  [
    message({ content: [{ type: 'thinking', thinking: 'hm', signature: 's' }], stop_reason: 'max_tokens' }),
    'completed',
    'length',
    '0.00225',
  ],
  [message({ content: [], stop_reason: 'end_turn' }), 'completed', 'stop', '0.00225'],
  [message({ content: [], stop_reason: null }), 'malformed_result', null, '0.00225'],
  [message({ content: null }), 'malformed_result', null, '0.00225'],
  [message({ content: 'text' }), 'malformed_result', null, '0.00225'],
];

const usageMetadata = { promptTokenCount: 1000, candidatesTokenCount: 100 };
const response = (fields: object) => ({ response: { usageMetadata, modelVersion: 'gemini-2.5-flash', ...fields } });
const candidate = (fields: object) => response({ candidates: [{ index: 0, ...fields }] });

const GEMINI_ANSWERS: Answers = [
  [response({ promptFeedback: { blockReason: 'SAFETY' } }), 'safety_blocked', null, '0.000275'],
  [{ response: { promptFeedback: { blockReason: 'OTHER' } } }, 'safety_blocked', null, '0.00'],
  [candidate({ finishReason: 'SAFETY' }), 'safety_blocked', null, '0.000275'],
  [candidate({ content: { role: 'model' }, finishReason: 'PROHIBITED_CONTENT' }), 'safety_blocked', null, '0.000275'],
  [
    candidate({ content: { parts: [{ text: 'half an ans' }] }, finishReason: 'SAFETY' }),
    'completed',
    'content_filter',
    '0.000275',
  ],
  [candidate({ content: { role: 'model' }, finishReason: 'MAX_TOKENS' }), 'completed', 'length', '0.000275'],
  [candidate({ content: { parts: [{ text: '' }] }, finishReason: 'MAX_TOKENS' }), 'completed', 'length', '0.000275'],
  [candidate({ finishReason: 'STOP' }), 'completed', 'stop', '0.000275'],
  [candidate({ finishReason: 'OTHER' }), 'malformed_result', null, '0.000275'],
  [candidate({ content: { parts: [] } }), 'malformed_result', null, '0.000275'],
  [response({ candidates: [] }), 'malformed_result', null, '0.000275'],
  [response({}), 'malformed_result', null, '0.000275'],
  [{ response: { candidates: null } }, 'malformed_result', null, '0.00'],
];

test.each<{ target: ChatTarget; answers: Answers }>([
  { target: ANTHROPIC, answers: ANTHROPIC_ANSWERS },
  { target: GEMINI, answers: GEMINI_ANSWERS },
])('R-15: answers of $target.provider without content are told apart by why they are empty', async (scene) => {
  const { target, answers } = scene;
  const { caller } = await gateway.newTenant();
  const jobId = await submitAnswered(
    gateway,
    caller,
    answers.length,
    (id) => answers.map(([outcome], index) => target.line(id(index + 1), outcome)),
    target,
  );
  const { rows } = await soundEnd(gateway, caller, jobId);
  expect(rows.map((row) => row.error?.code ?? row.status)).toEqual(answers.map(([, end]) => end));
  expect(rows.map((row) => finishOf(row))).toEqual(answers.map(([, , finish]) => finish));
  expect(rows.map((row) => row.cost)).toEqual(answers.map(([, , , cost]) => cost));
});

function finishOf({ result }: ResultRow): string | null {
  const [choice] = (result?.['choices'] ?? []) as { finish_reason: string }[];
  return choice?.finish_reason ?? null;
}

test('R-15: thinking that used up the whole limit is a completed, empty answer, charged by what was thought', async () => {
  const { caller } = await gateway.newTenant();
  const mark = '[[sim:usage=1000,100]][[sim:reasoning=100]]';
  const jobId = await caller.createJob({ model: GEMINI.model });
  await caller.append(jobId, [
    { custom_id: 'row_1', request: { messages: [{ role: 'user', content: mark }], max_tokens: 100 } },
  ]);
  await caller.submit(jobId);
  const { rows } = await soundEnd(gateway, caller, jobId);
  expect(rows[0]).toMatchObject({
    status: 'completed',
    cost: '0.000275',
    usage: { output_tokens: 100, reasoning_tokens: 100, estimated: false },
    result: { choices: [{ finish_reason: 'length', message: { content: '' } }] },
  });
});
