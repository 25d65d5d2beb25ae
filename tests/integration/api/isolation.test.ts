import { afterAll, describe, expect, test } from 'vitest';
import { openApiDocument } from '../../../api/openapi.ts';
import { newId } from '../../../db/ids.ts';
import { type ApiCaller, type CallOptions, chatItem, createTestApi } from '../../harness/api.ts';
import { createTestDatabase } from '../../harness/postgres.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);
const api = createTestApi(db);

const tenantId = await api.tenant();
await db.pool.query(
  "INSERT INTO customers (tenant_id, customer_id, name) VALUES ($1, 'one', 'One'), ($1, 'two', 'Two')",
  [tenantId],
);
await db.pool.query("INSERT INTO projects (tenant_id, project_id, name) VALUES ($1, 'web', 'Web')", [tenantId]);

const owner = await api.caller('tenant_admin', { tenantId });
const draftOfOne = await owner.draft(1, { customer_id: 'one' });
const runningOfOne = await owner.submitted(1, { customer_id: 'one' });

const strangers: [string, ApiCaller][] = [
  ['another tenant', await api.caller()],
  ['another customer', await api.caller('customer', { tenantId, customerId: 'two' })],
  ['another project', await api.caller('project', { tenantId, projectId: 'web' })],
];

/** What a route needs beside the id to get as far as looking for the job. */
const CALLS: { readonly [operation: string]: CallOptions } = {
  append_items: { json: { items: [chatItem('x')] } },
  upload_manifest: {
    body: `${JSON.stringify(chatItem('x'))}\n`,
    headers: { 'content-type': 'application/x-ndjson' },
  },
  get_item_by_query: {},
};

const routes = Object.entries(openApiDocument(api.app).paths ?? {})
  .filter(([path]) => path.startsWith('/v1/batch-jobs/{job_id}'))
  .flatMap(([path, item]) =>
    Object.entries(item).map(([method, { operationId }]) => [operationId, method.toUpperCase(), path] as const),
  );

function pathOf(path: string, operation: string, jobId: string): string {
  const filled = path.replace('{job_id}', encodeURIComponent(jobId)).replace('{custom_id}', 'row_1');
  return operation === 'get_item_by_query' ? `${filled}?custom_id=row_1` : filled;
}

async function answerTo(caller: ApiCaller, operation: string, method: string, path: string, jobId: string) {
  const answer = await caller.call(method, pathOf(path, operation, jobId), CALLS[operation]);
  const { request_id: _, ...rest } = answer.json ?? {};
  return { status: answer.status, bytes: answer.text.replace(/"req_[0-9a-z]+"/, '""'), rest };
}

test('there are by-id routes to look at', () => {
  expect(routes.map(([operation]) => operation)).toEqual(
    expect.arrayContaining(['get_status', 'cancel', 'retry', 'delete', 'list_results']),
  );
});

describe.each(strangers)('to a key of %s', (_, stranger) => {
  test.each(routes)(
    '%s answers somebody else’s job as it answers one that never was',
    async (operation, method, path) => {
      const unknown = await answerTo(stranger, operation, method, path, newId('job'));
      expect(unknown).toMatchObject({ status: 404, rest: { error: 'not_found' } });
      for (const jobId of [draftOfOne, runningOfOne, 'job_nonsense', 'x', '\u0000', newId('item'), `${draftOfOne}0`]) {
        expect(await answerTo(stranger, operation, method, path, jobId)).toEqual(unknown);
      }
    },
  );

  test('lists, usage and budgets never leak', async () => {
    const list = await stranger.get('/v1/batch-jobs');
    expect(list.text).not.toContain(draftOfOne);
    expect(list.text).not.toContain(runningOfOne);
    expect((await stranger.get('/v1/batch-jobs?customer_id=one')).json.data).toEqual([]);
    expect((await stranger.get('/v1/usage')).json.data).toEqual([]);
  });
});

test('the strangers’ calls changed nothing', async () => {
  const draft = await owner.get(`/v1/batch-jobs/${draftOfOne}`);
  expect(draft.json).toMatchObject({ status: 'draft', counts: { total: 1 } });
  expect((await owner.get(`/v1/batch-jobs/${runningOfOne}`)).json).toMatchObject({ status: 'queued', cancel: null });
});

test('the customer’s own key and the tenant’s see the job', async () => {
  const one = await api.caller('customer', { tenantId, customerId: 'one' });
  expect((await one.get(`/v1/batch-jobs/${draftOfOne}`)).status).toBe(200);
  expect((await one.get('/v1/batch-jobs')).json.data).toHaveLength(2);
  expect((await owner.get(`/v1/batch-jobs/${draftOfOne}`)).status).toBe(200);
});
