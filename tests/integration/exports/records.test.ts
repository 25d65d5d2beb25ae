import { hash } from 'node:crypto';
import { parse } from 'csv-parse/sync';
import { afterAll, expect, test } from 'vitest';
import { FocusRow } from '../../../contracts/focus-row.ts';
import type { ItemUsageRecord, JobUsage } from '../../../contracts/usage-record.ts';
import { getJobRow } from '../../../db/job-rows.ts';
import { formatAmount, parseAmount, parseNumeric } from '../../../domain/money.ts';
import { type ApiCaller, chatItem, createTestApi } from '../../harness/api.ts';
import { correct } from '../../harness/corrections.ts';
import { eventually } from '../../harness/eventually.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { endJob, settleItems } from '../../harness/settled-items.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);
const api = createTestApi(db);

type UsageRow = JobUsage | ItemUsageRecord;

/** A job with charges, a refund of one and an adjustment of the whole. */
async function correctedJob(caller: ApiCaller, options: Record<string, unknown> = {}): Promise<string> {
  const jobId = await caller.submitted(4, options);
  await settleItems(db, jobId, [
    { itemNo: 1, amount: '0.0000004' },
    { itemNo: 2, amount: '0.3' },
    { itemNo: 3, state: 'expired', amount: '0' },
    { itemNo: 4, amount: '1.25' },
  ]);
  await endJob(db, jobId);
  await correct(db, jobId, { itemNo: 2, amount: parseAmount('0.1') });
  await correct(db, jobId, { itemNo: 0, amount: parseAmount('0.05'), ordinal: 7 });
  return jobId;
}

const NET = '1.5000004';

function sum(costs: readonly string[]): string {
  return formatAmount(costs.reduce((total, cost) => total + parseAmount(cost), 0n));
}

function readLines(text: string): UsageRow[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

test.each(['job', 'item'])('records of level %s sum to the ledger, net of refunds and adjustments', async (level) => {
  const caller = await api.caller();
  const jobId = await correctedJob(caller);
  const { json } = await caller.get(`/v1/usage?level=${level}`);
  const records: UsageRow[] = json.data;
  expect(sum(records.map(({ cost }) => cost))).toBe(NET);
  expect(new Set(records.map(({ kind }) => kind))).toEqual(new Set(['charge', 'refund', 'adjustment']));
  const one = await caller.get(`/v1/batch-jobs/${jobId}/usage?level=${level}`);
  expect(one.json.data).toEqual(records);
  const grouped = await caller.get('/v1/usage?group_by=day,model');
  expect(sum(grouped.json.data.map(({ cost }: UsageRow) => cost))).toBe(NET);
});

test('pages, NDJSON, CSV and a second export give the same records under the same ids', async () => {
  const caller = await api.caller();
  await correctedJob(caller);
  await correctedJob(caller);
  const paged: UsageRow[] = [];
  for (let cursor = ''; ; ) {
    const { json } = await caller.get(`/v1/usage?level=item&limit=3${cursor}`);
    paged.push(...json.data);
    if (json.next_cursor === null) break;
    cursor = `&cursor=${json.next_cursor}`;
  }
  expect(paged).toHaveLength(12);
  expect(new Set(paged.map((record) => record.record_id)).size).toBe(12);
  const again = await caller.get('/v1/usage?level=item', { accept: 'application/x-ndjson' });
  expect(again.headers.get('content-type')).toBe('application/x-ndjson');
  expect(readLines(again.text)).toEqual(paged);
  const csv = await caller.get('/v1/usage?level=item', { accept: 'text/csv' });
  const rows: Record<string, string>[] = parse(csv.text, { columns: true });
  expect(rows.map((row) => row['record_id'])).toEqual(paged.map((record) => record.record_id));
  expect(rows.find((row) => row['kind'] === 'refund')?.['cost']).toBe('-0.10');
  expect(Object.keys(rows[0] ?? {}).sort()).toEqual(Object.keys(paged[0] ?? {}).sort());
});

test('a refund after an export is a record of its own, and the charge stays as it was', async () => {
  const caller = await api.caller();
  const jobId = await caller.submitted(1);
  await settleItems(db, jobId, [{ itemNo: 1, amount: '0.5' }]);
  await endJob(db, jobId);
  const imported = new Map<string, UsageRow>();
  let mark = 'start';
  const importNew = async () => {
    const answer = await caller.get(`/v1/usage?level=item&format=ndjson&since=${mark}`);
    mark = answer.headers.get('usage-next-since') ?? '';
    const records = readLines(answer.text);
    for (const record of records) imported.set(record.record_id, record);
    return records.length;
  };
  const importUntil = (wanted: number) => eventually(async () => (await importNew()) > 0 && imported.size >= wanted);
  await importUntil(1);
  const [charge] = imported.values();
  await correct(db, jobId, { itemNo: 1, amount: parseAmount('0.5') });
  await importUntil(2);
  expect(imported.get(charge?.record_id ?? '')).toEqual(charge);
  expect(sum([...imported.values()].map(({ cost }) => cost))).toBe('0.00');
  expect(await importNew()).toBe(0);
});

test('a record of a job comes again whole, with a higher version, also for what was committed late', async () => {
  const caller = await api.caller();
  const jobId = await caller.submitted(3);
  await settleItems(db, jobId, [{ itemNo: 1, amount: '0.5' }]);
  const imported = new Map<string, JobUsage>();
  let mark = 'start';
  const importNew = async () => {
    const { json } = await caller.get(`/v1/usage?since=${mark}`);
    mark = json.next_since;
    for (const record of json.data as JobUsage[]) {
      const known = imported.get(record.record_id);
      if (known !== undefined) expect(record.version).toBeGreaterThan(known.version);
      imported.set(record.record_id, record);
    }
    return [...imported.values()].reduce((total, { items }) => total + items, 0);
  };
  const late = await db.pool.connect();
  try {
    await late.query('BEGIN');
    await late.query(
      `INSERT INTO item_outcomes (bucket, job_id, item_no, seq, shard, attempt, state, failure_class, error_code, input_tokens,
         cached_input_tokens, cache_write_tokens, long_cache_write_tokens, output_tokens, reasoning_tokens, usage_estimated, amount, model)
       SELECT bucket, job_id, 2, 99, shard, attempt, state, failure_class, error_code, input_tokens, cached_input_tokens,
         cache_write_tokens, long_cache_write_tokens, output_tokens, reasoning_tokens, usage_estimated, amount, model
       FROM item_outcomes WHERE job_id = $1`,
      [(await getJobRow(db.pool, jobId)).key.uuid],
    );
    await settleItems(db, jobId, [{ itemNo: 3, amount: '0.25' }]);
    await eventually(async () => (await importNew()) >= 1);
    expect(await importNew()).toBe(1);
    await late.query('COMMIT');
    await eventually(async () => (await importNew()) === 3);
  } finally {
    late.release();
  }
  const [record] = imported.values();
  expect([imported.size, record?.version, record?.cost]).toEqual([1, 3, '1.25']);
});

test('what a record says of its owners outlives them', async () => {
  const tenantId = await api.tenant();
  await db.pool.query("INSERT INTO projects (tenant_id, project_id, name) VALUES ($1, 'web', 'Web')", [tenantId]);
  await db.pool.query("INSERT INTO customers (tenant_id, customer_id, name) VALUES ($1, 'shop', 'Shop')", [tenantId]);
  const gone = await api.caller('tenant_admin', { tenantId });
  await correctedJob(gone, { project_id: 'web', customer_id: 'shop' });
  const caller = await api.caller('tenant_admin', { tenantId });
  const read = async () =>
    (
      await Promise.all(['json', 'csv', 'focus'].map((format) => caller.get(`/v1/usage?level=item&format=${format}`)))
    ).map(({ text }) => text);
  const before = await read();
  expect(JSON.parse(before[0] ?? '').data[0]).toMatchObject({
    project_id: 'web',
    customer_id: 'shop',
    tenant_id: tenantId,
  });
  await db.pool.query('DELETE FROM projects WHERE tenant_id = $1', [tenantId]);
  await db.pool.query('DELETE FROM customers WHERE tenant_id = $1', [tenantId]);
  await db.pool.query('DELETE FROM api_keys WHERE tenant_id = $1 AND key_hash <> $2', [
    tenantId,
    hash('sha256', caller.key, 'buffer'),
  ]);
  expect(await read()).toEqual(before);
});

test.each(['job', 'item'])('FOCUS rows of level %s are valid and sum to the ledger exactly', async (level) => {
  const caller = await api.caller();
  const jobId = await correctedJob(caller, { metadata: { team: '=1+1' }, name: '@home' });
  const answer = await caller.get(`/v1/usage?format=focus&level=${level}`);
  expect(answer.headers.get('content-disposition')).toContain('focus.csv');
  const parsed: Record<string, string>[] = parse(answer.text, { columns: true });
  const rows = parsed.map((row) =>
    FocusRow.parse(Object.fromEntries(Object.entries(row).map(([name, cell]) => [name, cell === '' ? null : cell]))),
  );
  const { key } = await getJobRow(db.pool, jobId);
  const { rows: ledger } = await db.pool.query(
    `SELECT (SELECT sum(amount) FROM item_outcomes WHERE job_id = $1)
       + (SELECT sum(CASE event WHEN 'batch.item.refunded' THEN -amount ELSE amount END) FROM ledger_entries
          WHERE subject_id = $1 AND event IN ('batch.item.refunded', 'batch.adjusted')) AS net`,
    [key.uuid],
  );
  for (const column of ['BilledCost', 'EffectiveCost', 'ListCost', 'ContractedCost'] as const) {
    expect(parseAmount(sum(rows.map((row) => row[column])))).toBe(parseNumeric(ledger[0].net));
  }
  expect(JSON.parse(rows[0]?.Tags ?? '')).toMatchObject({ team: '=1+1' });
  if (level === 'job') expect(rows[0]?.ResourceName).toBe("'@home");
  expect(rows.map(({ ChargeClass }) => ChargeClass)).toEqual(rows.map(() => null));
});

test('a refund dated in a later month than its charge is a FOCUS correction', async () => {
  const caller = await api.caller();
  const jobId = await caller.submitted(1);
  await settleItems(db, jobId, [{ itemNo: 1 }]);
  await endJob(db, jobId);
  const { key } = await getJobRow(db.pool, jobId);
  await db.pool.query(
    `INSERT INTO ledger_entries (bucket, subject_id, item_no, event, ordinal, amount, actor, cause, created_at)
     VALUES ($1, $2, 1, 'batch.item.refunded', 1, 0.2, 'operator', 'test', now() + interval '40 days')`,
    [key.bucket, key.uuid],
  );
  const rows: Record<string, string>[] = parse((await caller.get('/v1/usage?format=focus')).text, { columns: true });
  expect(rows.map((row) => [row['ChargeClass'], row['BilledCost'], row['PricingQuantity']])).toEqual([
    ['', '0.50', '15'],
    ['Correction', '-0.20', ''],
  ]);
  expect(rows[1]?.['BillingPeriodStart']).not.toBe(rows[0]?.['BillingPeriodStart']);
});

test('amounts below zero stay numbers in CSV, and no text runs as a formula', async () => {
  const caller = await api.caller();
  const jobId = await caller.draft(0);
  await caller.post(`/v1/batch-jobs/${jobId}/items`, { items: [chatItem('-2')] });
  await caller.post(`/v1/batch-jobs/${jobId}/submit`);
  await settleItems(db, jobId, [{ itemNo: 1, amount: '0.5' }]);
  await endJob(db, jobId);
  await correct(db, jobId, { itemNo: 1, amount: parseAmount('0.5') });
  const rows: Record<string, string>[] = parse((await caller.get('/v1/usage?level=item&format=csv')).text, {
    columns: true,
  });
  expect(rows.map((row) => [row['custom_id'], row['cost']])).toEqual([
    ["'-2", '0.50'],
    ["'-2", '-0.50'],
  ]);
});

test.each([
  ['from=2026-08-01T10:00:00Z', 'from'],
  ['level=item&group_by=day', 'level'],
  ['format=focus&group_by=day', 'format'],
  ['since=yesterday', 'since'],
])('refuses %s', async (query, field) => {
  const caller = await api.caller();
  expect(await caller.get(`/v1/usage?${query}`)).toMatchObject({ status: 400, json: { field } });
});
