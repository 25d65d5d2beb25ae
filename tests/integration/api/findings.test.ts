import { afterAll, expect, test } from 'vitest';
import { recordFinding } from '../../../db/sweep-findings.ts';
import { createTestApi } from '../../harness/api.ts';
import { createTestDatabase } from '../../harness/postgres.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);
const api = createTestApi(db);
const operator = await api.caller('operator');
const caller = await api.caller();
const jobId = await caller.submitted(1);

const AT = new Date('2026-11-30T12:00:00Z');
const HOUR_MS = 3_600_000;

async function find(subject: string, repair: 'done' | 'asked' | 'nothing', at = AT) {
  const finding = { kind: 'poll_overdue', subject, jobId, tenantId: 'tenant_x', facts: { shard: 1 }, repair } as const;
  return recordFinding(db.pool, finding, at);
}

test('an operator pages through what was found, newest first, and picks by outcome and kind', async () => {
  expect((await operator.get('/v1/operator/findings')).json).toEqual({ data: [], next_cursor: null });
  for (const subject of ['a', 'b', 'c']) await find(subject, 'asked');
  expect(await find('b', 'asked', new Date(AT.getTime() + HOUR_MS))).toBe('raised');
  await find('d', 'nothing');
  const first = await operator.get('/v1/operator/findings?limit=3');
  expect(first.json.data.map(({ subject }: { subject: string }) => subject)).toEqual(['d', 'c', 'b']);
  const rest = await operator.get(`/v1/operator/findings?limit=3&cursor=${first.json.next_cursor}`);
  expect(rest.json).toMatchObject({ data: [{ subject: 'a' }], next_cursor: null });
  expect(first.json.data[2]).toEqual({
    ...{ finding_no: expect.any(Number), kind: 'poll_overdue', outcome: 'raised', subject: 'b', job_id: jobId },
    ...{ tenant_id: 'tenant_x', facts: { shard: 1 }, times: 2 },
    ...{ first_found_at: '2026-11-30T12:00:00.000Z', last_found_at: '2026-11-30T13:00:00.000Z' },
  });
  const raised = await operator.get('/v1/operator/findings?outcome=raised');
  expect(raised.json.data.map(({ subject }: { subject: string }) => subject)).toEqual(['d', 'b']);
  expect((await operator.get('/v1/operator/findings?kind=surplus_batch')).json.data).toEqual([]);
});

test('what is found again on another day is another finding', async () => {
  expect(await find('e', 'asked')).toBe('repaired');
  expect(await find('e', 'asked', new Date(AT.getTime() + 24 * HOUR_MS))).toBe('repaired');
  const { json } = await operator.get('/v1/operator/findings');
  expect(json.data.filter(({ subject }: { subject: string }) => subject === 'e')).toHaveLength(2);
});

test.each([
  ['a cursor of another list', '?cursor=WyJsZWRnZXIiLDFd', 400],
  ['a kind there is not', '?kind=weather', 400],
])('%s is refused', async (_what, query, status) => {
  expect((await operator.get(`/v1/operator/findings${query}`)).status).toBe(status);
});

test('findings are nothing for tenants', async () => {
  expect((await caller.get('/v1/operator/findings')).status).toBe(403);
});
