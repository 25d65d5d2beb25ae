import { randomBytes } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import { getJobRow } from '../../../db/job-rows.ts';
import { ATTEMPT_TOKEN_BYTES, encodeAttemptToken } from '../../../domain/attempt-token.ts';
import { createTestApi } from '../../harness/api.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { settleItems } from '../../harness/settled-items.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);
const api = createTestApi(db);
const operator = await api.caller('operator');

async function runningJob(): Promise<string> {
  const caller = await api.caller();
  const jobId = await caller.submitted(2);
  await settleItems(db, jobId, [{ itemNo: 1 }]);
  const { key } = await getJobRow(db.pool, jobId);
  await db.pool.query(
    `INSERT INTO batch_provider_metadata (job_id, shard, attempt, attempt_token, provider, provider_batch_id, input_file_id,
       endpoint, credential_id, native_status, native_request_counts, native_errors, item_count, create_outcome, poll_count)
     VALUES ($1, 1, 1, $2, 'openai', $2, 'file-in', 'chat.completions', 'default', 'in_progress', '{"total": 2}',
       '[{"code": "odd", "line": 1}]', 2, 'accepted', 3)`,
    [key.uuid, encodeAttemptToken(randomBytes(ATTEMPT_TOKEN_BYTES))],
  );
  await db.pool.query("UPDATE batch_shards SET next_poll_at = '2026-12-01T00:00:00Z' WHERE job_id = $1", [key.uuid]);
  await db.pool.query(
    `INSERT INTO unmatched_lines (job_id, shard, attempt, file, line, reason, provider_item_id, raw)
     SELECT $1, 1, 1, 1, line, 'unknown_id', NULL, convert_to('{"line":' || line || '}', 'UTF8') FROM generate_series(1, 120) AS line`,
    [key.uuid],
  );
  return jobId;
}

test('an operator sees the provider’s side of any tenant’s job', async () => {
  const jobId = await runningJob();
  const answer = await operator.get(`/v1/operator/jobs/${jobId}`);
  expect(answer.status).toBe(200);
  expect(answer.json).toMatchObject({
    job: { job_id: jobId, counts: { completed: 1 } },
    submission_no: 1,
    resolved_provider: 'openai',
    shards: [
      {
        shard: 1,
        state: 'running',
        next_poll_at: '2026-12-01T00:00:00.000Z',
        batches: [
          {
            attempt: 1,
            input_file_id: 'file-in',
            native_status: 'in_progress',
            native_request_counts: { total: 2 },
            native_errors: [{ code: 'odd', line: 1 }],
            poll_count: 3,
          },
        ],
      },
    ],
    workflow: {
      workflow_id: `batch-job/${jobId}`,
      url: `http://127.0.0.1:8233/namespaces/default/workflows/batch-job%2F${jobId}`,
      state_source: 'rows',
      state: { stage: 'running', shards: { total: 1, open: 1, settled: 0 } },
    },
    unmatched: { count: 120 },
  });
  expect(answer.json.unmatched.lines).toHaveLength(100);
  const [first] = answer.json.unmatched.lines;
  expect(Buffer.from(first.raw_base64, 'base64').toString()).toBe('{"line":1}');
});

test('the workflow’s own word is shown when it gives one', async () => {
  const jobId = await runningJob();
  const state = {
    v: 1 as const,
    jobId,
    stage: 'planning' as const,
    status: 'queued',
    cancelRequested: false,
    shards: { total: 0, open: 0, settled: 0 },
  };
  api.workflows.queryState = async () => state;
  const answer = await operator.get(`/v1/operator/jobs/${jobId}`);
  api.workflows.queryState = async () => null;
  expect(answer.json.workflow).toMatchObject({ state_source: 'workflow', state });
});

test('an operator sees where an item is at its provider, by path and by query, and nothing of what was asked', async () => {
  const jobId = await runningJob();
  const { key } = await getJobRow(db.pool, jobId);
  await db.pool.query(
    `UPDATE item_results SET native_error = '{"type":"odd","message":"their words"}' WHERE job_id = $1 AND item_no = 1`,
    [key.uuid],
  );
  const { rows: items } = await db.pool.query<{ custom_id: string }>(
    'SELECT custom_id FROM batch_items WHERE job_id = $1 ORDER BY item_no',
    [key.uuid],
  );
  const [settled, open] = items.map(({ custom_id: id }) => encodeURIComponent(id));
  const byPath = await operator.get(`/v1/operator/jobs/${jobId}/items/${settled}`);
  expect(byPath.json).toMatchObject({
    job_id: jobId,
    item_no: 1,
    status: 'completed',
    shard: 1,
    attempt: 1,
    provider: 'openai',
    provider_batch_id: expect.any(String),
    native_error: { type: 'odd', message: 'their words' },
  });
  expect(byPath.json.provider_item_id).toMatch(/-1$/);
  expect(Object.keys(byPath.json)).not.toContain('result');
  const byQuery = await operator.get(`/v1/operator/jobs/${jobId}/items?custom_id=${open}`);
  expect(byQuery.json).toMatchObject({ item_no: 2, status: 'submitted', shard: 1, error: null, settled_at: null });
});

test('an operator asks for an item that is not there, and a tenant for one of its own, in vain', async () => {
  const jobId = await runningJob();
  for (const id of ['nothing', '%00', '%ED%A0%80']) {
    expect((await operator.get(`/v1/operator/jobs/${jobId}/items?custom_id=${id}`)).status).toBe(404);
  }
  const caller = await api.caller();
  expect((await caller.get(`/v1/operator/jobs/${jobId}/items/a`)).status).toBe(403);
});

test('poll-now wakes the open shards', async () => {
  const jobId = await runningJob();
  api.workflows.calls.length = 0;
  expect(await operator.post(`/v1/operator/jobs/${jobId}/poll-now`)).toMatchObject({
    status: 202,
    json: { job_id: jobId, signalled: true },
  });
  expect(api.workflows.calls).toEqual([['pollNow', jobId, [1]]]);
});

test('poll-now says when Temporal is away', async () => {
  const jobId = await runningJob();
  const { pollNow } = api.workflows;
  api.workflows.pollNow = async () => 'unreachable';
  const answer = await operator.post(`/v1/operator/jobs/${jobId}/poll-now`);
  api.workflows.pollNow = pollNow;
  expect(answer).toMatchObject({ status: 503, json: { error: 'dependency_unavailable' } });
});

test('the ledger of a sound job verifies, and a charge from nowhere is named', async () => {
  const caller = await api.caller();
  const jobId = await caller.submitted(1);
  const sound = await operator.get(`/v1/operator/ledger/verify?job_id=${jobId}`);
  expect(sound.json).toEqual({ ok: true, jobs: 1, items: 0, differences: [] });
  await settleItems(db, jobId, [{ itemNo: 1, amount: '999' }]);
  const odd = await operator.get(`/v1/operator/ledger/verify?job_id=${jobId}`);
  expect(odd.json.ok).toBe(false);
  expect(odd.json.differences[0]).toMatchObject({ subject: jobId, check: expect.any(String) });
});

test.each(['/v1/operator/jobs/nonsense', '/v1/operator/ledger/verify?job_id=nonsense'])('%s is 404', async (path) => {
  expect(await operator.get(path)).toMatchObject({ status: 404, json: { error: 'not_found' } });
});
