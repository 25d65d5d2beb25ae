import { afterAll, expect, test } from 'vitest';
import { closeJob } from '../../../ledger/close-job.ts';
import { verifyLedger } from '../../../ledger/verify.ts';
import { createTestApi } from '../../harness/api.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { endedLedgerJob, runningLedgerJob, settleItem } from '../ledger/ledger-job.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);
const api = createTestApi(db);
const operator = await api.caller('operator');
const USED = { input: 1_000, output: 1_000 };
/** 1,000 input tokens at 0.075 and 1,000 output tokens at 0.30 a million. */
const CHARGE = '0.000375';

async function endedJob() {
  const of = await endedLedgerJob(db, { outputTokens: 2_000 }, [USED, USED]);
  const owner = await api.caller('tenant_admin', { tenantId: of.tenant.tenantId });
  return { jobId: of.job.jobId, owner, items: `/v1/operator/jobs/${of.job.jobId}/items` };
}

test('an item is given back whole: on the item, the job, its budget and its ledger', async () => {
  const { jobId, owner, items } = await endedJob();
  const answer = await operator.post(`${items}/row_1/refund`, { reason: 'the answer was cut off' });
  expect(answer.status).toBe(200);
  expect(answer.json).toMatchObject({ job_id: jobId, custom_id: 'row_1', charged: CHARGE, refunded: CHARGE });
  const item = await owner.get(`/v1/batch-jobs/${jobId}/items/row_1`);
  expect(item.json).toMatchObject({ status: 'completed', cost: CHARGE, refunded: CHARGE });
  const results = await owner.get(`/v1/batch-jobs/${jobId}/results`);
  expect(results.json.data.map((row: { refunded: string }) => row.refunded)).toEqual([CHARGE, '0.00']);
  const job = await owner.get(`/v1/batch-jobs/${jobId}`);
  expect(job.json).toMatchObject({ cost: { settled: CHARGE, held: '0.00' }, overage: null });
  const budgets = await owner.get('/v1/budgets');
  expect(budgets.json.data).toEqual([expect.objectContaining({ settled: CHARGE, held: '0.00' })]);
  const ledger = await owner.get(`/v1/batch-jobs/${jobId}/ledger?level=item`);
  const refunds = ledger.json.data.filter((entry: { event: string }) => entry.event === 'batch.item.refunded');
  expect(refunds).toEqual([
    expect.objectContaining({ custom_id: 'row_1', amount: CHARGE, cause: 'the answer was cut off', account: 'tenant' }),
  ]);
  expect(refunds[0].actor).toBe(answer.json.actor);
  expect((await verifyLedger(db, { jobId })).differences).toEqual([]);
});

test('the same refund again changes nothing, another one is refused', async () => {
  const { items } = await endedJob();
  const refund = (body: object, key?: string) =>
    operator.post(`${items}/refund?custom_id=row_1`, body, key === undefined ? {} : { 'idempotency-key': key });
  const first = await refund({ reason: 'goodwill', amount: '0.0001' }, 'key-1');
  expect(first.json).toMatchObject({ refunded: '0.0001', charged: CHARGE });
  const replay = await refund({ reason: 'goodwill', amount: '0.0001' }, 'key-1');
  expect([replay.text, replay.headers.get('idempotency-replayed')]).toEqual([first.text, 'true']);
  expect((await refund({ reason: 'goodwill', amount: '0.0001' })).text).toBe(first.text);
  expect((await refund({ reason: 'goodwill', amount: '0.0002' })).status).toBe(409);
  expect((await refund({ reason: 'other', amount: '0.0001' })).json).toMatchObject({ error: 'conflict' });
  const other = await operator.post(
    `${items}/refund?custom_id=row_2`,
    { reason: 'goodwill', amount: '0.0001' },
    { 'idempotency-key': 'key-1' },
  );
  expect(other.json).toMatchObject({ error: 'idempotency_conflict' });
});

test.each([
  ['more than was charged', 'row_1', { reason: 'r', amount: '0.000376' }, 409, 'conflict'],
  ['nothing', 'row_1', { reason: 'r', amount: '0.00' }, 400, 'invalid_request'],
  ['a number', 'row_1', { reason: 'r', amount: 0.1 }, 400, 'invalid_request'],
  ['no reason', 'row_1', {}, 400, 'invalid_request'],
  ['an item the job does not have', 'row_9', { reason: 'r' }, 404, 'not_found'],
])('a refund of %s is refused', async (_, customId, body, status, error) => {
  const { items } = await endedJob();
  const answer = await operator.post(`${items}/${customId}/refund`, body);
  expect([answer.status, answer.json.error]).toEqual([status, error]);
});

test('an unknown job and a tenant’s key get nothing', async () => {
  const { items, owner } = await endedJob();
  expect((await operator.post('/v1/operator/jobs/job_x/items/row_1/refund', { reason: 'r' })).status).toBe(404);
  expect((await owner.post(`${items}/row_1/refund`, { reason: 'r' })).status).toBe(403);
});

test('an item of a running job is given back once it has settled', async () => {
  const of = await runningLedgerJob(db, { items: 2, outputTokens: 2_000 });
  const path = `/v1/operator/jobs/${of.job.jobId}/items/row_1/refund`;
  expect((await operator.post(path, { reason: 'r' })).json).toMatchObject({ error: 'conflict' });
  await settleItem(db, of, 1, USED);
  expect((await operator.post(path, { reason: 'r' })).json).toMatchObject({ refunded: CHARGE });
  await settleItem(db, of, 2, USED);
  await closeJob(db, of.job.jobId, new Date());
  const owner = await api.caller('tenant_admin', { tenantId: of.tenant.tenantId });
  expect((await owner.get(`/v1/batch-jobs/${of.job.jobId}`)).json.cost.settled).toBe(CHARGE);
  expect((await verifyLedger(db, { jobId: of.job.jobId })).differences).toEqual([]);
});
