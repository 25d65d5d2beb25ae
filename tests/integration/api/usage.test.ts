import { parse } from 'csv-parse/sync';
import { afterAll, expect, test } from 'vitest';
import { setAliases } from '../../../db/tenants.ts';
import { chatItem, createTestApi } from '../../harness/api.ts';
import { eventually } from '../../harness/eventually.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { endJob, settleItems } from '../../harness/settled-items.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);
const api = createTestApi(db);

test('a job’s record sums what its items used of each model', async () => {
  const caller = await api.caller();
  const jobId = await caller.submitted(3);
  await settleItems(db, jobId, [{ itemNo: 1 }, { itemNo: 2, state: 'failed', amount: '0' }, { itemNo: 3 }]);
  const answer = await caller.get(`/v1/batch-jobs/${jobId}/usage`);
  expect(answer.json).toMatchObject({
    data: [
      {
        job_id: jobId,
        provider: 'openai',
        model: 'gpt-4o-mini',
        items: 3,
        completed: 2,
        failed: 1,
        input_tokens: 30,
        output_tokens: 15,
        cost: '1.00',
        currency: 'USD',
      },
    ],
    next_cursor: null,
  });
});

test('item records page, and stream as NDJSON and as CSV', async () => {
  const caller = await api.caller();
  const jobId = await caller.submitted(3);
  await settleItems(db, jobId, [{ itemNo: 2 }, { itemNo: 1 }, { itemNo: 3 }]);
  await endJob(db, jobId);
  const path = `/v1/batch-jobs/${jobId}/usage?level=item`;
  const first = await caller.get(`${path}&limit=2`);
  const second = await caller.get(`${path}&limit=2&cursor=${first.json.next_cursor}`);
  const paged = [...first.json.data, ...second.json.data];
  expect(paged.map((record) => record.custom_id)).toEqual(['row_2', 'row_1', 'row_3']);
  expect(second.json.next_cursor).toBeNull();
  const ndjson = await caller.get(`${path}&format=ndjson`);
  expect(
    ndjson.text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toEqual(paged);
  const csv = await caller.get(`${path}&format=csv`);
  expect(csv.headers.get('content-type')).toContain('text/csv');
  const rows: Record<string, string>[] = parse(csv.text, { columns: true });
  expect(rows.map((row) => row['custom_id'])).toEqual(['row_2', 'row_1', 'row_3']);
  expect(Object.keys(rows[0] ?? {}).sort()).toEqual(Object.keys(paged[0]).sort());
});

test('CSV of a job without usage has its header line', async () => {
  const caller = await api.caller();
  const jobId = await caller.draft(0);
  const csv = await caller.get(`/v1/batch-jobs/${jobId}/usage?format=csv`);
  expect(csv.text).toMatch(/^record_id,version,kind,day,job_id,tenant_id,.*last_settled_at,[a-z_,]*\r\n$/);
});

test.each(['=1+1', '+1', '-1', '@SUM(A1)', '＝1'])('CSV does not let the id %s run as a formula', async (customId) => {
  const caller = await api.caller();
  const jobId = await caller.draft(0);
  await caller.post(`/v1/batch-jobs/${jobId}/items`, { items: [chatItem(customId)] });
  await caller.post(`/v1/batch-jobs/${jobId}/submit`);
  await settleItems(db, jobId, [{ itemNo: 1 }]);
  const csv = await caller.get(`/v1/batch-jobs/${jobId}/usage?level=item&format=csv`);
  const [row]: Record<string, string>[] = parse(csv.text, { columns: true });
  expect(row?.['custom_id']).toBe(`'${customId}`);
});

test('all jobs are reported by record, page by page, and in sums by group', async () => {
  const tenantId = await api.tenant();
  await db.pool.query("INSERT INTO projects (tenant_id, project_id, name) VALUES ($1, 'web', 'Web')", [tenantId]);
  const caller = await api.caller('tenant_admin', { tenantId });
  const jobs = [await caller.submitted(1, { project_id: 'web' }), await caller.submitted(2), await caller.submitted(1)];
  for (const jobId of jobs) await settleItems(db, jobId, [{ itemNo: 1 }]);
  await settleItems(db, jobs[1] ?? '', [{ itemNo: 2 }]);
  const seen: string[] = [];
  for (let cursor = ''; ; ) {
    const page = await caller.get(`/v1/usage?limit=2${cursor}`);
    seen.push(...page.json.data.map((record: { job_id: string }) => record.job_id));
    if (page.json.next_cursor === null) break;
    cursor = `&cursor=${page.json.next_cursor}`;
  }
  expect(seen).toEqual(jobs);
  const sums = await caller.get('/v1/usage?group_by=project,model');
  expect(sums.json.data).toMatchObject([
    { group: { project: 'web', model: 'gpt-4o-mini' }, items: 1, cost: '0.50' },
    { group: { project: null, model: 'gpt-4o-mini' }, items: 3, cost: '1.50' },
  ]);
  const bound = await api.caller('project', { tenantId, projectId: 'web' });
  expect((await bound.get('/v1/usage?group_by=tenant')).json.data).toMatchObject([{ items: 1 }]);
  const day = await caller.get('/v1/usage?group_by=day,tenant,customer,api_key,provider,endpoint');
  expect(day.json.data).toMatchObject([{ items: 4, group: { tenant: tenantId, provider: 'openai', customer: null } }]);
});

test('a window takes what was settled in it', async () => {
  const caller = await api.caller();
  const jobId = await caller.submitted(1);
  await settleItems(db, jobId, [{ itemNo: 1 }]);
  const hour = 3_600_000;
  const at = (offsetMs: number) => encodeURIComponent(new Date(Date.now() + offsetMs).toISOString());
  const count = async (query: string) => (await caller.get(`/v1/usage?level=item&${query}`)).json.data.length;
  expect(await count(`from=${at(-hour)}&to=${at(hour)}`)).toBe(1);
  expect(await count(`from=${at(hour)}`)).toBe(0);
  expect(await count(`to=${at(-hour)}`)).toBe(0);
});

test('reads that follow each other see every outcome once, also one that commits late', async () => {
  const caller = await api.caller();
  const jobId = await caller.submitted(3);
  await settleItems(db, jobId, [{ itemNo: 1 }]);
  const late = await db.pool.connect();
  const read = async (since: string): Promise<{ items: number; next: string }> => {
    const { json } = await caller.get(`/v1/usage?level=item&since=${since}`);
    return {
      items: json.data.length,
      next: json.next_since,
    };
  };
  // Transactions of other databases on the server hold outcomes back too: a read may find none yet, and none is lost.
  let since = 'start';
  let total = 0;
  const readUntil = (wanted: number) =>
    eventually(async () => {
      const { items, next } = await read(since);
      since = next;
      total += items;
      return total >= wanted;
    });
  try {
    await late.query('BEGIN');
    await late.query(
      `INSERT INTO item_outcomes SELECT bucket, job_id, 2, 99, shard, attempt, state, failure_class, error_code, input_tokens,
         cached_input_tokens, cache_write_tokens, long_cache_write_tokens, output_tokens, reasoning_tokens, usage_estimated, amount, model, response_hash
       FROM item_outcomes ORDER BY settled_at DESC LIMIT 1`,
    );
    await settleItems(db, jobId, [{ itemNo: 3 }]);
    await readUntil(1);
    expect(total).toBe(1);
    await late.query('COMMIT');
    await readUntil(3);
  } finally {
    late.release();
  }
  expect(total).toBe(3);
  expect((await read(since)).items).toBe(0);
});

test.each([
  ['group_by=colour', 'group_by[0]'],
  ['group_by=day,day', 'group_by'],
  ['from=now', 'from'],
  ['shape=odd', 'shape'],
])('refuses %s', async (query, field) => {
  const caller = await api.caller();
  expect(await caller.get(`/v1/usage?${query}`)).toMatchObject({ status: 400, json: { field } });
});

test('budgets and models are those of the key’s tenant', async () => {
  const tenantId = await api.tenant('12.5');
  const target = { provider: 'openai', model: 'gpt-4o', region: null, weight: null };
  await setAliases(db.pool, tenantId, { house: [target] });
  const caller = await api.caller('tenant_admin', { tenantId });
  const budgets = await caller.get('/v1/budgets');
  expect(budgets.json.data).toEqual([
    {
      scope: 'tenant',
      scope_id: tenantId,
      period: 'total',
      period_start: null,
      limit: '12.50',
      held: '0.00',
      settled: '0.00',
      available: '12.50',
      alert_percents: [80, 100],
      alerts: [],
      currency: 'USD',
    },
  ]);
  const models = await caller.get('/v1/models');
  expect(models.json.aliases).toContainEqual({ alias: 'house', model: 'openai/gpt-4o', targets: [target] });
  const found = models.json.data.find(({ model }: { model: string }) => model === 'openai/gpt-4o-mini');
  expect(found).toMatchObject({ provider: 'openai', endpoints: ['chat.completions', 'responses'], currency: 'USD' });
  expect(new Set(models.json.data.map(({ model }: { model: string }) => model)).size).toBe(models.json.data.length);
});
