import { afterAll, beforeEach, expect, test } from 'vitest';
import type { ApiCaller } from '../../harness/api.ts';
import { TestRuns } from '../../harness/document-runs.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { createTestFolder, upload } from './document-fixture.ts';

const { db, drop } = await createTestDatabase();
const folder = createTestFolder();
afterAll(async () => {
  await drop();
  folder.remove();
});

let runs: TestRuns;
let caller: ApiCaller;
let operator: ApiCaller;
beforeEach(async () => {
  runs = new TestRuns(db, folder.store);
  caller = await runs.caller();
  operator = await runs.api.caller('operator');
});

const path = (runId: string, rest = '') => `/v1/operator/jobs/${runId}${rest}`;

/** A run whose batch was accepted. */
async function sent(...texts: readonly string[]): Promise<string> {
  for (const text of texts) await upload(caller, 'b', text);
  const runId = await runs.process(caller, 'b', { mode: 'batch' });
  await runs.untilWaiting(runId);
  await runs.driveJob(runId);
  return runId;
}

async function ends(): Promise<[string, string | null][]> {
  const documents = await runs.documents(caller, 'b');
  return documents.map(
    ({ status, processing_error: error }: { status: string; processing_error: { code: string } }) => [
      status,
      error?.code ?? null,
    ],
  );
}

test('the batch of a run is shown by its id with its shards, and each document as an item of it', async () => {
  const runId = await sent('one', 'two');
  const { status, json } = await operator.get(path(runId));
  expect(status).toBe(200);
  expect(json).toMatchObject({
    job: { job_id: runId, status: 'running' },
    shards: [{ state: 'running', item_count: 2 }],
  });
  expect(json.workflow.workflow_id).toBe(`batch-job/${runId}`);
  const [document] = await runs.documents(caller, 'b');
  const item = await operator.get(path(runId, `/items/${document.id}`));
  expect(item).toMatchObject({ status: 200, json: { custom_id: document.id } });
});

test('what is given up ends its documents, tells its shards, and is told to the tenant in no word of a job', async () => {
  const runId = await sent('one');
  const answer = await operator.post(path(runId, '/give-up'), { reason: 'the provider is gone' });
  expect(answer).toMatchObject({ status: 202, json: { job_id: runId, shards: [1] } });
  expect(runs.api.workflows.calls).toContainEqual(['rowsChanged', runId, [1]]);
  expect(await runs.driveJob(runId)).toBe(true);
  await runs.untilWaiting(runId);
  expect((await ends()).map(([state]) => state)).toEqual(['failed']);
  expect((await runs.money(runId))[0]).toMatchObject({ settled: 0n, held: 0n });
  const { rows } = await db.pool.query("SELECT type FROM events WHERE tenant_id = $1 AND type LIKE 'batch_job.%'", [
    runs.tenants.get(caller),
  ]);
  expect(rows).toEqual([]);
});

test('a create that nobody can place is resolved by hand', async () => {
  const runId = await sent('one');
  await db.pool.query(
    `UPDATE batch_shards s SET state = 'indeterminate' FROM batch_jobs j WHERE j.job_id = s.job_id AND j.tenant_id = $1`,
    [runs.tenants.get(caller)],
  );
  await db.pool.query(
    `UPDATE batch_provider_metadata m SET provider_batch_id = NULL, create_outcome = NULL FROM batch_jobs j
     WHERE j.job_id = m.job_id AND j.tenant_id = $1`,
    [runs.tenants.get(caller)],
  );
  const wish = { shard: 1, none: true, reason: 'the provider has none' };
  expect(await operator.post(path(runId, '/resolve'), wish)).toMatchObject({
    status: 202,
    json: { job_id: runId, shards: [1] },
  });
  expect((await operator.get(path(runId))).json.acts).toMatchObject([{ act: 'resolve', reason: wish.reason }]);
});

test('a run that is cancelled by an operator ends its documents once the provider has', async () => {
  const runId = await sent('one');
  const answer = await operator.post(path(runId, '/cancel'), { reason: 'asked for by mail' });
  expect(answer).toMatchObject({ status: 202, json: { job_id: runId, status: 'cancel_requested' } });
  runs.provider.endAll('cancelled', () => false);
  expect(await runs.driveJob(runId)).toBe(true);
  await runs.untilWaiting(runId);
  expect(await ends()).toEqual([['failed', 'upstream_canceled']]);
});

test.each(['batch', 'direct'])('what a document was charged is given back once, mode %s', async (mode) => {
  await upload(caller, 'b', 'one');
  const runId = await runs.process(caller, 'b', { mode });
  await runs.untilWaiting(runId);
  if (mode === 'batch') {
    await runs.driveJob(runId);
    runs.provider.endAll();
    await runs.driveJob(runId);
    await runs.untilWaiting(runId);
  }
  const [document] = await runs.documents(caller, 'b');
  const refund = () => operator.post(path(runId, `/items/${document.id}/refund`), { reason: 'the rows were wrong' });
  const first = await refund();
  expect(first).toMatchObject({ status: 200, json: { job_id: runId, custom_id: document.id } });
  expect(Number(first.json.refunded)).toBeGreaterThan(0);
  expect(first.json.refunded).toBe(first.json.charged);
  expect((await refund()).text).toBe(first.text);
  const [money] = await runs.money(runId);
  expect(money).toMatchObject({ settled: 0n, held: 0n });
  expect(money?.events).toContain('document.item.refunded');
});

test('a run in direct mode has no batch to act on', async () => {
  await upload(caller, 'b', 'one');
  const runId = await runs.process(caller, 'b', { mode: 'direct' });
  for (const [act, wish] of [
    ['give-up', { reason: 'r' }],
    ['cancel', { reason: 'r' }],
    ['resolve', { shard: 1, none: true, reason: 'r' }],
    ['re-ingest', {}],
    ['poll-now', {}],
  ] as const)
    expect([act, (await operator.post(path(runId, `/${act}`), wish)).status]).toEqual([
      act,
      act === 'resolve' ? 409 : 404,
    ]);
});
