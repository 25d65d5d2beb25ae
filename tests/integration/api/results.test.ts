import { afterAll, expect, test } from 'vitest';
import { getJobRow } from '../../../db/job-rows.ts';
import { createTestApi } from '../../harness/api.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { endJob, settleItems } from '../../harness/settled-items.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);
const api = createTestApi(db);

const NDJSON = { accept: 'application/x-ndjson' };
const FAILURE = {
  class: 'validation',
  code: 'invalid_request',
  message: 'The request was refused.',
  native: '{"type":"bad"}',
};

test('a row has the whole contract’s shape, with the reply as it came', async () => {
  const caller = await api.caller();
  const jobId = await caller.submitted(2);
  const body = '{"b":1, "a":[12345678901234567890, "\\u0000 \\ud800"],\n "1":2}';
  await settleItems(db, jobId, [{ itemNo: 2, body, amount: '0.000001' }]);
  const page = await caller.get(`/v1/batch-jobs/${jobId}/results`);
  expect(page.text).toContain(`"result":${body.replace('\n', ' ')},`);
  expect(page.json.data).toEqual([
    {
      item_id: expect.stringMatching(/^item_/),
      custom_id: 'row_2',
      status: 'completed',
      result: JSON.parse(body),
      content: 'stored',
      error: null,
      usage: {
        input_tokens: 10,
        cached_input_tokens: 2,
        cache_write_tokens: 1,
        output_tokens: 5,
        reasoning_tokens: 3,
        estimated: false,
      },
      cost: '0.000001',
      refunded: '0.00',
      currency: 'USD',
      model: 'gpt-4o-mini',
      request_hash: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      response_hash: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      needs_review: false,
      retry_of_item_id: null,
      retried_by_item_id: null,
      attempts: 1,
      settled_at: expect.any(String),
    },
  ]);
});

test('a cursor follows a running job to its end and skips nothing', async () => {
  const caller = await api.caller();
  const jobId = await caller.submitted(5);
  const path = `/v1/batch-jobs/${jobId}/results?limit=2`;
  const read = async (cursor: string | null) => {
    const page = await caller.get(cursor === null ? path : `${path}&cursor=${cursor}`);
    return { ids: page.json.data.map((row: { custom_id: string }) => row.custom_id), next: page.json.next_cursor };
  };
  const first = await read(null);
  expect(first).toEqual({ ids: [], next: expect.any(String) });
  await settleItems(db, jobId, [{ itemNo: 3 }, { itemNo: 1 }, { itemNo: 5 }]);
  const second = await read(first.next);
  expect(second.ids).toEqual(['row_3', 'row_1']);
  const third = await read(second.next);
  expect(third).toEqual({ ids: ['row_5'], next: expect.any(String) });
  await settleItems(db, jobId, [{ itemNo: 2 }, { itemNo: 4 }]);
  await endJob(db, jobId);
  const fourth = await read(third.next);
  expect(fourth.ids).toEqual(['row_2', 'row_4']);
  expect(await read(fourth.next)).toEqual({ ids: [], next: null });
});

test('a filtered cursor moves on past what the filter leaves out', async () => {
  const caller = await api.caller();
  const jobId = await caller.submitted(3);
  await settleItems(db, jobId, [{ itemNo: 1 }, { itemNo: 2, state: 'failed', body: null, failure: FAILURE }]);
  const failed = await caller.get(`/v1/batch-jobs/${jobId}/results?status=failed`);
  expect(failed.json.data).toMatchObject([{ custom_id: 'row_2', status: 'failed', result: null, response_hash: null }]);
  await settleItems(db, jobId, [{ itemNo: 3, state: 'failed', body: null, failure: FAILURE }]);
  const later = await caller.get(`/v1/batch-jobs/${jobId}/results?status=failed&cursor=${failed.json.next_cursor}`);
  expect(later.json.data).toMatchObject([{ custom_id: 'row_3' }]);
  const one = await caller.get(`/v1/batch-jobs/${jobId}/results?custom_id=row_1`);
  expect(one.json.data).toMatchObject([{ custom_id: 'row_1' }]);
});

test('NDJSON sends every row on a line of its own, in order', async () => {
  const caller = await api.caller();
  const jobId = await caller.submitted(40);
  const body = JSON.stringify({ text: 'x'.repeat(200_000) });
  await settleItems(
    db,
    jobId,
    Array.from({ length: 40 }, (_, index) => ({ itemNo: 40 - index, body })),
  );
  const answer = await caller.get(`/v1/batch-jobs/${jobId}/results`, NDJSON);
  expect(answer.headers.get('content-type')).toBe('application/x-ndjson');
  const lines = answer.text.trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line).custom_id)).toEqual(lines.map((_, index) => `row_${40 - index}`));
  const none = await caller.get(`/v1/batch-jobs/${jobId}/results?status=expired`, NDJSON);
  expect(none).toMatchObject({ status: 200, text: '' });
});

test('a page of long replies ends early and its cursor goes on', async () => {
  const caller = await api.caller();
  const jobId = await caller.submitted(30);
  const body = JSON.stringify({ text: 'x'.repeat(1_000_000) });
  await settleItems(
    db,
    jobId,
    Array.from({ length: 30 }, (_, index) => ({ itemNo: index + 1, body })),
  );
  const page = await caller.get(`/v1/batch-jobs/${jobId}/results?limit=1000`);
  expect(page.json.data.length).toBeGreaterThanOrEqual(16);
  expect(page.json.data.length).toBeLessThan(25);
  await endJob(db, jobId);
  const rest = await caller.get(`/v1/batch-jobs/${jobId}/results?limit=1000&cursor=${page.json.next_cursor}`);
  expect(page.json.data.length + rest.json.data.length).toBe(30);
  expect(rest.json.next_cursor).toBeNull();
});

test('a reader that leaves a stream ends it', async () => {
  const caller = await api.caller();
  const jobId = await caller.submitted(30);
  const body = JSON.stringify({ text: 'x'.repeat(1_000_000) });
  await settleItems(
    db,
    jobId,
    Array.from({ length: 30 }, (_, index) => ({ itemNo: index + 1, body })),
  );
  const response = await api.app.request(`/v1/batch-jobs/${jobId}/results`, {
    headers: { ...NDJSON, authorization: `Bearer ${caller.key}` },
  });
  const reader = response.body?.getReader();
  await reader?.read();
  const busy = db.pool.totalCount - db.pool.idleCount;
  expect(busy).toBe(0);
  await reader?.cancel();
  expect((await reader?.read())?.done).toBe(true);
});

test('a failed item tells class, code and message; the provider’s own words only where the tenant’s policy exposes them', async () => {
  const tenantId = await api.tenant();
  const caller = await api.caller('tenant_admin', { tenantId });
  const jobId = await caller.submitted(1);
  await settleItems(db, jobId, [{ itemNo: 1, state: 'failed', body: null, failure: FAILURE }]);
  const path = `/v1/batch-jobs/${jobId}/items/row_1`;
  const { native, ...shown } = FAILURE;
  expect((await caller.get(path)).json.error).toEqual(shown);
  await db.pool.query(`UPDATE tenants SET policy = '{"expose_provider_errors": true}' WHERE tenant_id = $1`, [
    tenantId,
  ]);
  expect((await caller.get(path)).json.error).toEqual({ ...shown, provider: JSON.parse(native) });
});

test('an item can be read in any state, by path and by query', async () => {
  const caller = await api.caller();
  const jobId = await caller.draft(1);
  await caller.post(`/v1/batch-jobs/${jobId}/items`, {
    items: ['..', 'a/b?c#d', '100%', 'ü 🙂'].map((custom_id) => ({
      custom_id,
      request: { messages: [{ role: 'user', content: 'x' }], max_tokens: 1 },
    })),
  });
  const pending = await caller.get(`/v1/batch-jobs/${jobId}/items/row_1`);
  expect(pending.json).toMatchObject({
    custom_id: 'row_1',
    status: 'pending',
    result: null,
    usage: null,
    cost: null,
    refunded: null,
    attempts: 0,
  });
  for (const customId of ['a/b?c#d', '100%', 'ü 🙂']) {
    const byPath = await caller.get(`/v1/batch-jobs/${jobId}/items/${encodeURIComponent(customId)}`);
    expect(byPath.json.custom_id).toBe(customId);
  }
  const byQuery = await caller.get(`/v1/batch-jobs/${jobId}/items?custom_id=${encodeURIComponent('..')}`);
  expect(byQuery.json.custom_id).toBe('..');
});

test.each(['nothing', '%00', '%ED%A0%80', 'x'.repeat(3000)])('an item %s is not found', async (customId) => {
  const caller = await api.caller();
  const jobId = await caller.draft(1);
  const answer = await caller.get(`/v1/batch-jobs/${jobId}/items/${customId}`);
  expect(answer).toMatchObject({ status: 404, json: { error: 'not_found' } });
});

test('deleting an ended job takes its content and leaves its accounts', async () => {
  const caller = await api.caller();
  const jobId = await caller.submitted(2);
  await settleItems(db, jobId, [{ itemNo: 1 }, { itemNo: 2 }]);
  await endJob(db, jobId);
  for (let times = 0; times < 2; times += 1) {
    expect((await caller.call('DELETE', `/v1/batch-jobs/${jobId}`)).status).toBe(204);
  }
  const results = await caller.get(`/v1/batch-jobs/${jobId}/results`);
  expect(results).toMatchObject({ status: 410, json: { error: 'content_deleted' } });
  const item = await caller.get(`/v1/batch-jobs/${jobId}/items/row_1`);
  expect(item.json).toMatchObject({ status: 'completed', result: null, cost: '0.50', usage: { input_tokens: 10 } });
  const job = await caller.get(`/v1/batch-jobs/${jobId}`);
  expect(job.json).toMatchObject({
    content_deleted_at: expect.any(String),
    counts: { completed: 2 },
    cost: { settled: '1.00' },
  });
  const { rows } = await db.pool.query(
    'SELECT (SELECT count(*)::int FROM item_requests JOIN batch_jobs j USING (job_id) WHERE j.tenant_id = $1) AS requests, (SELECT count(*)::int FROM item_results JOIN batch_jobs j USING (job_id) WHERE j.tenant_id = $1) AS results',
    [job.json.tenant_id],
  );
  expect(rows).toEqual([{ requests: 0, results: 0 }]);
});

test('reading costs nothing, however often', async () => {
  const caller = await api.caller();
  const jobId = await caller.submitted(2);
  await settleItems(db, jobId, [{ itemNo: 1 }, { itemNo: 2 }]);
  const money = async () => [
    (await caller.get(`/v1/batch-jobs/${jobId}`)).json.cost,
    (await caller.get(`/v1/batch-jobs/${jobId}/ledger`)).json,
    (await caller.get('/v1/budgets')).json.data,
  ];
  const before = await money();
  await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      caller.get(index % 2 === 0 ? `/v1/batch-jobs/${jobId}` : `/v1/batch-jobs/${jobId}/results`),
    ),
  );
  expect(await money()).toEqual(before);
});

test('failures are counted by class, whatever their codes', async () => {
  const caller = await api.caller();
  const jobId = await caller.submitted(3);
  await db.pool.query(
    `UPDATE job_progress SET failures = '{"provider_timeout": 2, "provider_overloaded": 1, "safety_blocked": 4}'
     WHERE job_id = (SELECT job_id FROM batch_jobs ORDER BY created_at DESC LIMIT 1)`,
  );
  expect((await caller.get(`/v1/batch-jobs/${jobId}`)).json.failures).toEqual({ provider_error: 3, safety_blocked: 4 });
});

test('warnings and unmatched lines are shown, without what is the workers’ own', async () => {
  const caller = await api.caller();
  const jobId = await caller.submitted(1);
  const { key } = await getJobRow(db.pool, jobId);
  await db.pool.query(
    `UPDATE job_progress SET unmatched_lines = 3, warnings = '[{"code": "provider_counts_disagree", "shard": 4, "message": "odd"}]'
     WHERE job_id = $1`,
    [key.uuid],
  );
  expect((await caller.get(`/v1/batch-jobs/${jobId}`)).json).toMatchObject({
    unmatched_lines: 3,
    warnings: [{ code: 'provider_counts_disagree', message: 'odd' }],
  });
});
