import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { newId } from '../../../db/ids.ts';
import { createCipher } from '../../../encryption/create-cipher.ts';
import { type ApiCaller, createTestApi } from '../../harness/api.ts';
import { insertTenant } from '../../harness/jobs.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { TASKS, TaskFixture } from './task-fixture.ts';

const HOUR_MS = 3_600_000;
const { db, drop } = await createTestDatabase({ poolSize: 20 });
afterAll(drop);
const fixture = new TaskFixture(db);
const { api } = fixture;

let tenantId: string;
let caller: ApiCaller;
beforeEach(async () => {
  tenantId = await api.tenant();
  caller = await api.caller('tenant_admin', { tenantId });
});

const ASK = { taskType: 'OPENAI', payload: { prompt: 'Capital of France?' } };

async function setPolicy(policy: Record<string, unknown>): Promise<void> {
  await db.pool.query('UPDATE tenants SET policy = $2 WHERE tenant_id = $1', [tenantId, policy]);
}

describe('POST /v1/async/task answers 202 with the task', () => {
  test('queued, with its payload, and where to poll it', async () => {
    const payload = { prompt: 'Capital?', system: 'One word.', model: 'analysis-small', maxTokens: 50 };
    const made = await caller.post(TASKS, { taskType: 'ANTHROPIC', priority: 3, payload });
    expect(made.status).toBe(202);
    expect(made.json).toEqual({
      ...{ id: expect.stringMatching(/^task_[0-9a-z]{26}$/), taskType: 'ANTHROPIC', status: 'QUEUED', priority: 3 },
      ...{ payload, response: null, error: null, attempts: 0, createdAt: fixture.now().toISOString() },
      ...{ startedAt: null, completedAt: null },
    });
    expect(made.headers.get('location')).toBe(`${TASKS}/${made.json.id}`);
    const read = await caller.get(`${TASKS}/${made.json.id}`);
    expect([read.status, read.json]).toEqual([200, made.json]);
    expect(api.workflows.calls.at(-1)).toEqual(['startTask', made.json.id, 'anthropic', 'claude-haiku-5-5']);
  });

  test('max tokens in the name that the newest models of every provider take', async () => {
    const id = await fixture.post(caller, { payload: { prompt: 'Paris?', maxTokens: 50 } });
    await fixture.attempt(id);
    expect(fixture.provider.completes.at(-1)?.request).toMatchObject({ max_completion_tokens: 50 });
    expect((await caller.get(`${TASKS}/${id}`)).json.payload).toMatchObject({ maxTokens: 50 });
  });

  test('on the provider of its type: an alias leads to its target there', async () => {
    for (const [taskType, provider] of [
      ['OPENAI', 'openai'],
      ['ANTHROPIC', 'anthropic'],
      ['GEMINI', 'gemini'],
    ]) {
      for (const model of ['analysis-large', undefined]) {
        const made = await caller.post(TASKS, { taskType, payload: { prompt: 'x', ...(model && { model }) } });
        expect(made.status).toBe(202);
        expect(api.workflows.calls.at(-1)?.slice(0, 3)).toEqual(['startTask', made.json.id, provider]);
      }
    }
  });

  test('with its money held, by standard prices, and on the ledger as a task', async () => {
    const id = await fixture.post(caller);
    const { rows } = await db.pool.query(
      `SELECT l.event, l.amount > 0 AS counts FROM ledger_entries l JOIN batch_jobs j ON j.job_id = l.subject_id
       WHERE j.tenant_id = $1 ORDER BY l.event`,
      [tenantId],
    );
    expect(rows).toEqual([
      { event: 'task.estimated', counts: true },
      { event: 'task.reserved', counts: true },
    ]);
    expect((await fixture.rows(tenantId))['held']).toBeGreaterThan(0);
    const job = await db.pool.query(
      'SELECT kind, price_mode, state, item_count, submission_no FROM batch_jobs WHERE tenant_id = $1',
      [tenantId],
    );
    expect(job.rows).toEqual([
      { kind: 'task', price_mode: 'standard', state: 'queued', item_count: 1, submission_no: 1 },
    ]);
    const audit = await db.pool.query('SELECT act, subject FROM audit_log WHERE tenant_id = $1', [tenantId]);
    expect(audit.rows).toEqual([{ act: 'task.created', subject: id }]);
  });

  test('also while Temporal is away: the sweep starts it later', async () => {
    const start = api.workflows.startTask;
    api.workflows.startTask = async () => 'unreachable';
    try {
      expect((await caller.post(TASKS, ASK)).status).toBe(202);
    } finally {
      api.workflows.startTask = start;
    }
  });

  test('a repeated Idempotency-Key has the same answer and one effect; other content is refused', async () => {
    const headers = { 'idempotency-key': 'once' };
    const first = await caller.post(TASKS, ASK, headers);
    fixture.clockMs += 5_000;
    const again = await caller.post(TASKS, ASK, headers);
    expect(again.text).toBe(first.text);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(again.headers.get('location')).toBe(first.headers.get('location'));
    expect((await fixture.rows(tenantId))['tasks']).toBe(1);
    const other = await caller.post(TASKS, { ...ASK, priority: 2 }, headers);
    expect([other.status, other.json.error.code]).toEqual([409, 'IDEMPOTENCY_CONFLICT']);
  });

  test('two at once with one Idempotency-Key are one task', async () => {
    const headers = { 'idempotency-key': 'twins' };
    const answers = await Promise.all([caller.post(TASKS, ASK, headers), caller.post(TASKS, ASK, headers)]);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect((await fixture.rows(tenantId))['tasks']).toBe(1);
  });

  test('what is kept for the repetition holds no content', async () => {
    await caller.post(TASKS, { ...ASK, payload: { prompt: 'secret-of-mine' } }, { 'idempotency-key': 'content' });
    const { rows } = await db.pool.query("SELECT response_body FROM idempotency_keys WHERE key = 'content'");
    expect(JSON.stringify(rows)).not.toContain('secret-of-mine');
  });
});

describe('priority is 1–10, default 1, whole numbers out of range clamped and echoed as clamped; anything else 400', () => {
  test.each([
    [undefined, 1],
    [1, 1],
    [10, 10],
    [0, 1],
    [-5, 1],
    [11, 10],
    [1e20, 10],
    [-1e300, 1],
    [7.0, 7],
  ])('%s is taken as %i', async (priority, echoed) => {
    const made = await caller.post(TASKS, { ...ASK, ...(priority !== undefined && { priority }) });
    expect([made.status, made.json.priority]).toEqual([202, echoed]);
    expect((await caller.get(`${TASKS}/${made.json.id}`)).json.priority).toBe(echoed);
  });

  test.each(['1.5', '"3"', 'null', 'true', '1e400', '-1e400', '[1]', '{}', 'NaN'])(
    '%s is refused',
    async (priority) => {
      const body = `{"taskType":"OPENAI","payload":{"prompt":"x"},"priority":${priority}}`;
      const answer = await caller.call('POST', TASKS, { body, headers: { 'content-type': 'application/json' } });
      expect([answer.status, answer.json.error.code]).toEqual([400, 'INVALID_REQUEST']);
      if (priority !== 'NaN') expect(answer.json.error.message).toContain('priority');
      expect((await fixture.rows(tenantId))['tasks']).toBe(0);
    },
  );
});

describe('what is known to be impossible is refused at POST and not stored', () => {
  const NOTHING = {
    ...{ tasks: 0, jobs: 0, requests: 0, holds: 0, ledger: 0, audit: 0, events: 0, webhooks: 0, slots: 0, held: 0 },
  };

  test.each([
    ['no type', { payload: ASK.payload }, 400, 'INVALID_REQUEST', 'taskType'],
    ['an unknown type', { ...ASK, taskType: 'MISTRAL' }, 400, 'INVALID_REQUEST', 'taskType'],
    ['a lower-case type', { ...ASK, taskType: 'openai' }, 400, 'INVALID_REQUEST', 'taskType'],
    ['no payload', { taskType: 'OPENAI' }, 400, 'INVALID_REQUEST', 'payload'],
    ['an empty prompt', { ...ASK, payload: { prompt: '' } }, 400, 'INVALID_REQUEST', 'payload.prompt'],
    ['a blank prompt', { ...ASK, payload: { prompt: ' \n' } }, 400, 'INVALID_REQUEST', 'payload.prompt'],
    ['half a surrogate pair', { ...ASK, payload: { prompt: '\ud800' } }, 400, 'INVALID_REQUEST', 'payload.prompt'],
    [
      'a prompt that is too long',
      { ...ASK, payload: { prompt: 'x'.repeat(1_000_001) } },
      400,
      'INVALID_REQUEST',
      '1000000',
    ],
    ['no tokens', { ...ASK, payload: { prompt: 'x', maxTokens: 0 } }, 400, 'INVALID_REQUEST', 'payload.maxTokens'],
    [
      'more tokens than the model writes',
      { ...ASK, payload: { prompt: 'x', maxTokens: 999_999 } },
      400,
      'INVALID_REQUEST',
      'payload.maxTokens',
    ],
    ['an unknown member', { ...ASK, stream: true }, 400, 'INVALID_REQUEST', 'stream'],
    [
      'an unknown member of the payload',
      { ...ASK, payload: { prompt: 'x', temperature: 1 } },
      400,
      'INVALID_REQUEST',
      'payload.temperature',
    ],
    [
      'a model of another provider',
      { ...ASK, payload: { prompt: 'x', model: 'claude-haiku-5-5' } },
      400,
      'INVALID_REQUEST',
      'payload.model',
    ],
    [
      'another provider by name',
      { ...ASK, payload: { prompt: 'x', model: 'gemini/gemini-3.8-flash' } },
      400,
      'INVALID_REQUEST',
      'payload.model',
    ],
    ['an unknown model', { ...ASK, payload: { prompt: 'x', model: 'nonsense' } }, 422, 'MODEL_UNKNOWN', 'nonsense'],
    [
      'a model for something else',
      { ...ASK, payload: { prompt: 'x', model: 'text-embedding-3-small' } },
      422,
      'NOT_SUPPORTED',
      'payload.model',
    ],
    [
      'a model without a price',
      { ...ASK, payload: { prompt: 'x', model: 'openai/gpt-unheard-of' } },
      422,
      'PRICE_UNKNOWN',
      'payload.model',
    ],
    ['a webhook that is no URL', { ...ASK, webhookUrl: 'nonsense' }, 400, 'INVALID_REQUEST', 'webhookUrl'],
    ['a webhook inside the network', { ...ASK, webhookUrl: 'https://10.0.0.1/' }, 400, 'INVALID_REQUEST', 'webhookUrl'],
    [
      'a webhook without a secret',
      { ...ASK, webhookUrl: 'https://hooks.example/' },
      422,
      'WEBHOOK_SECRET_MISSING',
      'webhookUrl',
    ],
  ])('%s', async (_, body, status, code, named) => {
    const answer = await caller.post(TASKS, body);
    expect([answer.status, answer.json]).toEqual([
      status,
      { error: { code, message: expect.stringContaining(named) } },
    ]);
    expect(await fixture.rows(tenantId)).toEqual(NOTHING);
  });

  test('a suspended account, a model that is not allowed, a suspended spending', async () => {
    await db.pool.query("UPDATE tenants SET allowed_models = '{gpt-5.6-terra}' WHERE tenant_id = $1", [tenantId]);
    const barred = await caller.post(TASKS, ASK);
    expect([barred.status, barred.json.error.code]).toEqual([403, 'MODEL_NOT_ALLOWED']);
    await db.pool.query("UPDATE tenants SET suspended_at = now(), suspension_reason = 'unpaid' WHERE tenant_id = $1", [
      tenantId,
    ]);
    const suspended = await caller.post(TASKS, ASK);
    expect([suspended.status, suspended.json.error.code]).toEqual([403, 'ACCOUNT_SUSPENDED']);
    expect(await fixture.rows(tenantId)).toEqual(NOTHING);
  });

  test('a budget that has not enough left', async () => {
    const poor = (await insertTenant(db, { limit: '0.000001' })).tenantId;
    const answer = await (await api.caller('tenant_admin', { tenantId: poor })).post(TASKS, ASK);
    expect([answer.status, answer.json.error.code]).toEqual([402, 'BUDGET_EXCEEDED']);
    expect(await fixture.rows(poor)).toEqual(NOTHING);
  });

  test('a reply that would have to be sealed, of a gateway without a key to seal with', async () => {
    const keyless = createTestApi(db, { now: fixture.now, cipher: createCipher([]) });
    const other = await keyless.caller('tenant_admin', { tenantId });
    expect((await other.post(TASKS, ASK)).status).toBe(202);
    await setPolicy({ storage: 'hashes' });
    const before = await fixture.rows(tenantId);
    const { status, json } = await other.post(TASKS, ASK);
    expect([status, json.error.code]).toEqual([422, 'ENCRYPTION_NOT_CONFIGURED']);
    expect(await fixture.rows(tenantId)).toEqual(before);
  });

  test('what only batches cannot do is no obstacle: a model that runs in none, and has no price there', async () => {
    await db.pool.query(
      `INSERT INTO capability_overrides (override_id, tenant_id, provider, endpoint, model, is_allowed, reason, created_by)
       VALUES ($1, $2, 'openai', 'chat.completions', 'gpt-5.6-luna', false, 'test', 'test')`,
      [newId('capabilityOverride'), tenantId],
    );
    expect((await caller.post(TASKS, ASK)).status).toBe(202);
    const job = await caller.draft(1, { model: 'openai/gpt-5.6-luna' });
    expect((await caller.post(`/v1/batch-jobs/${job}/submit`)).json.error).toBe('endpoint_not_supported');
  });
});

describe('the plan’s concurrency limit counts queued and in-progress tasks together', () => {
  test('100 parallel posts against a limit of 10 accept exactly ten, the others 429 CONCURRENCY_LIMIT with Retry-After', async () => {
    await setPolicy({ task_concurrency: 10 });
    const answers = await Promise.all(Array.from({ length: 100 }, () => caller.post(TASKS, ASK)));
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(10);
    for (const answer of answers.filter(({ status }) => status !== 202)) {
      expect([answer.status, answer.json.error.code]).toEqual([429, 'CONCURRENCY_LIMIT']);
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    expect(await fixture.rows(tenantId)).toMatchObject({ tasks: 10, jobs: 10, requests: 10, slots: 10, audit: 10 });
  });

  test('a task in progress keeps its place, and its end makes room', async () => {
    await setPolicy({ task_concurrency: 1 });
    const id = await fixture.post(caller);
    let during: unknown;
    await fixture.during(id, async () => {
      expect((await caller.get(`${TASKS}/${id}`)).json.status).toBe('PROCESSING');
      during = (await caller.post(TASKS, ASK)).json.error.code;
    });
    expect(during).toBe('CONCURRENCY_LIMIT');
    expect((await caller.post(TASKS, ASK)).status).toBe(202);
  });

  test('of one tenant: another has its own', async () => {
    await setPolicy({ task_concurrency: 1 });
    await fixture.post(caller);
    expect((await (await api.caller()).post(TASKS, ASK)).status).toBe(202);
  });

  test('a limit of 0 takes none', async () => {
    await setPolicy({ task_concurrency: 0 });
    expect((await caller.post(TASKS, ASK)).json.error.code).toBe('CONCURRENCY_LIMIT');
  });
});

describe('DELETE of a queued one ends it FAILED, code CANCELLED', () => {
  test('at once, with its slot free, and the same answer when repeated', async () => {
    const id = await fixture.post(caller);
    const gone = await caller.call('DELETE', `${TASKS}/${id}`);
    expect(gone.status).toBe(200);
    expect(gone.json).toMatchObject({
      ...{ id, status: 'FAILED', response: null, attempts: 0, completedAt: fixture.now().toISOString() },
      error: { code: 'CANCELLED', message: expect.any(String) },
    });
    fixture.clockMs += 1_000;
    const again = await caller.call('DELETE', `${TASKS}/${id}`);
    expect([again.status, again.text]).toEqual([200, gone.text]);
    expect((await fixture.rows(tenantId))['slots']).toBe(0);
    expect(api.workflows.calls.filter(([call, of]) => call === 'taskChanged' && of === id)).toHaveLength(1);
    await fixture.attempt(id);
    expect((await caller.get(`${TASKS}/${id}`)).text).toBe(gone.text);
    expect(await fixture.rows(tenantId)).toMatchObject({ slots: 0, held: 0 });
    expect(fixture.provider.completes.some(({ request }) => JSON.stringify(request).includes(id))).toBe(false);
  });

  test('one that has ended, or is under way, is refused with 409 CONFLICT, which says so', async () => {
    const id = await fixture.post(caller);
    let during: { status: number; json: unknown } | undefined;
    await fixture.during(id, async () => {
      during = await caller.call('DELETE', `${TASKS}/${id}`);
    });
    expect([during?.status, during?.json]).toEqual([
      409,
      { error: { code: 'CONFLICT', message: expect.stringContaining('PROCESSING') } },
    ]);
    const late = await caller.call('DELETE', `${TASKS}/${id}`);
    expect([late.status, late.json]).toEqual([
      409,
      { error: { code: 'CONFLICT', message: expect.stringContaining('COMPLETED') } },
    ]);
  });
});

describe('a task is {id, taskType, status, priority, payload, response, error, attempts, createdAt, startedAt, completedAt}', () => {
  test('completed: response {text, model, finishReason, usage}', async () => {
    const id = await fixture.post(caller);
    await fixture.attempt(id);
    const { json } = await caller.get(`${TASKS}/${id}`);
    expect(Object.keys(json)).toEqual([
      ...['id', 'taskType', 'status', 'priority', 'payload', 'response', 'error', 'attempts', 'createdAt', 'startedAt'],
      'completedAt',
    ]);
    expect(json).toMatchObject({ status: 'COMPLETED', attempts: 1, error: null });
    expect(json.response).toEqual({
      ...{ text: 'Paris', model: 'gpt-5.6-luna', finishReason: 'stop' },
      usage: { inputTokens: 12, cachedInputTokens: 0, outputTokens: 3, reasoningTokens: 0, estimated: false },
    });
  });

  test('failed: error {code, message}, and no response', async () => {
    const id = await fixture.post(caller);
    await fixture.fail(id);
    const { json } = await caller.get(`${TASKS}/${id}`);
    expect(json).toMatchObject({
      ...{ status: 'FAILED', response: null },
      error: { code: 'INVALID_REQUEST', message: expect.any(String) },
    });
  });

  test('?include=history gives every state with its attempt, time and code', async () => {
    const id = await fixture.post(caller);
    const queuedAt = fixture.now().toISOString();
    fixture.clockMs += 1_000;
    await fixture.fail(id);
    const at = fixture.now().toISOString();
    const { json } = await caller.get(`${TASKS}/${id}?include=history`);
    expect(json.history).toEqual([
      { status: 'QUEUED', attempt: 0, at: queuedAt, code: null },
      { status: 'PROCESSING', attempt: 1, at, code: null },
      { status: 'FAILED', attempt: 1, at, code: 'INVALID_REQUEST' },
    ]);
    expect((await caller.get(`${TASKS}/${id}?include=all`)).json.error.code).toBe('INVALID_REQUEST');
  });

  test('whose content was deleted says so', async () => {
    const id = await fixture.post(caller);
    await fixture.attempt(id);
    await db.pool.query('UPDATE batch_jobs SET content_deleted_at = now() WHERE tenant_id = $1', [tenantId]);
    const { json } = await caller.get(`${TASKS}/${id}`);
    expect(json).toMatchObject({ status: 'COMPLETED', payload: null, response: null, content: 'deleted' });
  });

  test.each(['pointers', 'hashes'])(
    'under %s the reply can be read for the window, and the prompt is gone',
    async (storage) => {
      await setPolicy({ storage, read_window_ms: 0 });
      const id = await fixture.post(caller);
      await fixture.attempt(id);
      fixture.clockMs += 24 * HOUR_MS - 1_000;
      const { json } = await caller.get(`${TASKS}/${id}`);
      expect(json).toMatchObject({ payload: null, response: { text: 'Paris' }, content: 'not_stored' });
    },
  );
});

describe('24 hours after its end polling answers 404 NOT_FOUND, the answer for an id that never existed', () => {
  /** All that a caller can see, but for the request's own id and standing. */
  async function seen(method: string, path: string) {
    const { status, headers, text } = await caller.call(method, path);
    const told = [...headers].filter(([name]) => !/^(?:x-request-id|ratelimit|ratelimit-policy|date)$/.test(name));
    return { status, told, text };
  }

  test.each([
    ['GET', ''],
    ['GET', '?include=history'],
    ['DELETE', ''],
    ['POST', '/webhook/replay'],
  ])('%s %s: found at 23:59:59, unknown at 24:00:00 and 24:00:01', async (method, rest) => {
    const id = await fixture.post(caller);
    await fixture.attempt(id);
    fixture.clockMs += 24 * HOUR_MS - 1_000;
    expect((await seen(method, `${TASKS}/${id}${rest}`)).status).not.toBe(404);
    fixture.clockMs += 1_000;
    const unknown = await seen(method, `${TASKS}/${newId('task')}${rest}`);
    expect(unknown).toMatchObject({
      status: 404,
      text: '{"error":{"code":"NOT_FOUND","message":"No such task."}}',
    });
    expect(await seen(method, `${TASKS}/${id}${rest}`)).toEqual(unknown);
    fixture.clockMs += 1_000;
    expect(await seen(method, `${TASKS}/${id}${rest}`)).toEqual(unknown);
    expect((await fixture.rows(tenantId))['tasks']).toBe(1);
  });

  test('also to a replay that is repeated under its Idempotency-Key', async () => {
    await caller.post('/v1/webhooks', { url: 'https://example.com/hook' });
    const id = await fixture.post(caller);
    await fixture.attempt(id);
    await db.pool.query("UPDATE webhook_deliveries SET state = 'delivered', ended_at = now() WHERE tenant_id = $1", [
      tenantId,
    ]);
    const replay = () =>
      caller.call('POST', `${TASKS}/${id}/webhook/replay`, { headers: { 'idempotency-key': 'again' } });
    expect((await replay()).status).toBe(202);
    expect((await replay()).status).toBe(202);
    fixture.clockMs += 24 * HOUR_MS;
    expect((await replay()).status).toBe(404);
  });
});

describe('every error of these routes has the envelope {"error":{"code","message"}}', () => {
  test.each([
    ['no key', 'GET', `${TASKS}/x`, { headers: { authorization: '' } }, 401, 'UNAUTHORIZED'],
    ['a path that is not there', 'GET', '/v1/async/tasks', {}, 404, 'NOT_FOUND'],
    ['another method', 'PUT', TASKS, {}, 405, 'METHOD_NOT_ALLOWED'],
    ['another method of a task', 'PATCH', `${TASKS}/x`, {}, 405, 'METHOD_NOT_ALLOWED'],
    [
      'another content type',
      'POST',
      TASKS,
      { body: 'x', headers: { 'content-type': 'text/plain' } },
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    ],
    ['no JSON', 'POST', TASKS, { body: '{', headers: { 'content-type': 'application/json' } }, 400, 'INVALID_REQUEST'],
    [
      'a body that is too large',
      'POST',
      TASKS,
      { body: ' '.repeat(8 * 1024 * 1024 + 1), headers: { 'content-type': 'application/json' } },
      413,
      'REQUEST_TOO_LARGE',
    ],
    [
      'a bad idempotency key',
      'POST',
      TASKS,
      { json: ASK, headers: { 'idempotency-key': 'ä b' } },
      400,
      'INVALID_REQUEST',
    ],
  ] as const)('%s', async (_, method, path, call, status, code) => {
    const answer = await caller.call(method, path, call);
    expect([answer.status, answer.json]).toEqual([status, { error: { code, message: expect.any(String) } }]);
  });

  test('a key of the gateway, and one without the scope', async () => {
    const operator = await api.caller('operator');
    expect((await operator.get(`${TASKS}/x`)).json).toMatchObject({ error: { code: 'FORBIDDEN' } });
  });
});
