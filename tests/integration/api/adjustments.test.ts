import { afterAll, expect, test } from 'vitest';
import { verifyLedger } from '../../../ledger/verify.ts';
import { createTestApi } from '../../harness/api.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { endedLedgerJob, runningLedgerJob } from '../ledger/ledger-job.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);
const api = createTestApi(db);
const operator = await api.caller('operator');
const USED = { input: 1_000, output: 1_000 };
const CHARGE = '0.000375';
const HEADER = 'provider,provider_batch_id,billed_amount,currency';

function send(path: string, csv: string, contentType = 'text/csv') {
  return operator.call('POST', `/v1/operator/adjustments${path}`, {
    body: csv,
    headers: { 'content-type': contentType },
  });
}

async function endedJob() {
  const of = await endedLedgerJob(db, { outputTokens: 2_000 }, [USED]);
  const owner = await api.caller('tenant_admin', { tenantId: of.tenant.tenantId });
  const settled = async () => (await owner.get(`/v1/batch-jobs/${of.job.jobId}`)).json.cost.settled;
  return { ...of, jobId: of.job.jobId, owner, settled };
}

test('a preview names each difference and each unknown batch, and changes nothing', async () => {
  const [more, equal] = [await endedJob(), await endedJob()];
  const open = await runningLedgerJob(db);
  const csv = [
    `\uFEFF${HEADER},note`,
    `openai,${more.providerBatchId},0.0003,USD,"part, one"`,
    `openai,${more.providerBatchId},0.0001,USD,part two`,
    `openai,${equal.providerBatchId},${CHARGE},USD,`,
    `openai,${open.providerBatchId},1.00,USD,`,
    'openai,batch_of_nobody,2.50,USD,',
  ].join('\r\n');
  const { status, json } = await send('/preview?invoice=INV-1', csv);
  expect(status).toBe(200);
  expect(json).toMatchObject({ invoice: 'INV-1', account: 'gateway', newly_posted: 0 });
  expect(json.batches).toEqual([
    expect.objectContaining({
      job_id: more.jobId,
      status: 'differs',
      billed: '0.0004',
      charged: CHARGE,
      difference: '0.000025',
    }),
    expect.objectContaining({ job_id: equal.jobId, status: 'equal', difference: '0.00' }),
    expect.objectContaining({ job_id: open.job.jobId, status: 'job_open' }),
  ]);
  expect(json.unknown).toEqual([
    { provider: 'openai', provider_batch_id: 'batch_of_nobody', billed: '2.50', currency: 'USD' },
  ]);
  const { rowCount } = await db.pool.query('SELECT 1 FROM provider_adjustments');
  expect(rowCount).toBe(0);
});

test('an import posts to the gateway’s own account, once for an invoice, and the tenant pays what it paid', async () => {
  const { jobId, owner, settled, providerBatchId, tenant } = await endedJob();
  const csv = `${HEADER}\nopenai,${providerBatchId},0.0005,USD\n`;
  expect((await send('?invoice=INV-1', csv)).status).toBe(400);
  const first = await send('?invoice=INV-1&confirm=true', csv);
  expect(first.json).toMatchObject({ newly_posted: 1, batches: [{ status: 'posted', difference: '0.000125' }] });
  const again = await send('?invoice=INV-1&confirm=true', csv.replace('0.0005', '0.9'));
  expect(again.json).toMatchObject({ newly_posted: 0, batches: [{ status: 'posted', billed: '0.0005' }] });
  expect(await settled()).toBe(CHARGE);
  const later = await send('?invoice=INV-2&confirm=true', csv.replace('0.0005', '0.0002'));
  expect(later.json).toMatchObject({ newly_posted: 1, batches: [{ charged: '0.0005', difference: '-0.0003' }] });
  const adjusted = async (caller: typeof owner) =>
    (await caller.get(`/v1/batch-jobs/${jobId}/ledger?level=job`)).json.data.filter(
      ({ event }: { event: string }) => event === 'batch.adjusted',
    );
  expect(await adjusted(owner)).toEqual([
    expect.objectContaining({ amount: '0.000125', account: 'gateway', cause: 'invoice INV-1, shard 1.1' }),
    expect.objectContaining({ amount: '-0.0003', account: 'gateway' }),
  ]);
  await db.pool.query("INSERT INTO customers (tenant_id, customer_id, name) VALUES ($1, 'c', 'c')", [tenant.tenantId]);
  await db.pool.query("UPDATE batch_jobs SET customer_id = 'c' WHERE tenant_id = $1", [tenant.tenantId]);
  const customer = await api.caller('customer', { tenantId: tenant.tenantId, customerId: 'c' });
  expect(await adjusted(customer)).toEqual([]);
  expect((await verifyLedger(db, { jobId })).differences).toEqual([]);
});

test('with charge_tenant the job, its hold and its budget are charged the difference, never less than nothing', async () => {
  const { jobId, owner, settled, providerBatchId } = await endedJob();
  const row = (billed: string) => `${HEADER}\nopenai,${providerBatchId},${billed},USD\n`;
  const charging = (invoice: string) => `?invoice=${invoice}&confirm=true&charge_tenant=true`;
  expect((await send(charging('INV-1'), row('0.0004'))).json).toMatchObject({ account: 'tenant', newly_posted: 1 });
  expect(await settled()).toBe('0.0004');
  expect((await owner.get('/v1/budgets')).json.data[0]).toMatchObject({ settled: '0.0004', held: '0.00' });
  await operator.post(`/v1/operator/jobs/${jobId}/items/row_1/refund`, { reason: 'r' });
  expect((await send(charging('INV-2'), row('0.0001'))).json).toMatchObject({
    newly_posted: 0,
    batches: [{ status: 'below_zero' }],
  });
  expect((await send(charging('INV-3'), row('5'))).json.newly_posted).toBe(1);
  expect(await settled()).toBe('4.999625');
  expect((await verifyLedger(db, { jobId })).differences).toEqual([]);
});

test('two imports at once post each batch once', async () => {
  const { providerBatchId } = await endedJob();
  const csv = `${HEADER}\nopenai,${providerBatchId},1.00,USD\n`;
  const answers = await Promise.all([1, 2, 3, 4].map(() => send('?invoice=INV-9&confirm=true', csv)));
  expect(answers.reduce((sum, { json }) => sum + json.newly_posted, 0)).toBe(1);
});

test.each([
  ['no lines', `${HEADER}\n`],
  ['a column less', 'provider,provider_batch_id,billed_amount\nopenai,b,1\n'],
  ['a field less in a line', `${HEADER}\nopenai,b,1\n`],
  ['an open quote', `${HEADER}\nopenai,"b,1,USD\n`],
])('an invoice with %s is refused', async (_, csv) => {
  const answer = await send('/preview?invoice=INV-1', csv);
  expect([answer.status, answer.json.error]).toEqual([400, 'invalid_request']);
});

test('every line that cannot be read is named', async () => {
  const csv = `${HEADER}\nopenai,a,1.00,USD\nopenai,b,-1,USD\nopenai,c,1e3,USD\nopenai,d,1,usd\nopenai,a,1,EUR\n`;
  const { json } = await send('/preview?invoice=INV-1', csv);
  expect(json.details.map(({ line, field }: { line: number; field: string }) => [line, field])).toEqual([
    [3, 'billed_amount'],
    [4, 'billed_amount'],
    [5, 'currency'],
    [6, 'currency'],
  ]);
});

test('only CSV is taken, and only from operators', async () => {
  expect((await send('/preview?invoice=INV-1', '{}', 'application/json')).status).toBe(415);
  const tenant = await api.caller();
  const body = { body: HEADER, headers: { 'content-type': 'text/csv' } };
  expect((await tenant.call('POST', '/v1/operator/adjustments/preview?invoice=1', body)).status).toBe(403);
});
