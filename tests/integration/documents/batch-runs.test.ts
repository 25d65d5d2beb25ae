import { randomBytes } from 'node:crypto';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { documentFiles } from '../../../artifacts/document-files.ts';
import { createKeyRing, KEY_BYTES } from '../../../encryption/key-ring.ts';
import { TEST_CIPHER } from '../../harness/activities.ts';
import type { ApiCaller } from '../../harness/api.ts';
import { BATCH_PRICE, ONE_ROW, rowsOf, STANDARD_PRICE, TestRuns, USAGE } from '../../harness/document-runs.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { createTestFolder, fileOf, upload } from './document-fixture.ts';

const { db, drop } = await createTestDatabase();
const folder = createTestFolder();
afterAll(async () => {
  await drop();
  folder.remove();
});

let runs: TestRuns;
let caller: ApiCaller;
beforeEach(async () => {
  runs = new TestRuns(db, folder.store);
  caller = await runs.caller();
});

/** Uploaded and handed over as a batch job. */
async function handedOver(...texts: readonly string[]): Promise<string> {
  for (const text of texts) await upload(caller, 'b', text);
  const runId = await runs.process(caller, 'b', { mode: 'batch' });
  expect(await runs.untilWaiting(runId)).toMatchObject({ kind: 'wait' });
  expect(runs.jobs).toContain(runId);
  return runId;
}

async function states(): Promise<string[]> {
  return (await runs.documents(caller, 'b')).map(({ status }: { status: string }) => status);
}

async function* bytesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

async function codes(): Promise<(string | null)[]> {
  const documents = await runs.documents(caller, 'b');
  return documents.map((one: { processing_error: { code: string } | null }) => one.processing_error?.code ?? null);
}

test('the requests are written in steps, and none is sent before', async () => {
  for (const text of ['one', 'two', 'three']) await upload(caller, 'b', text);
  const runId = await runs.process(caller, 'b', { mode: 'batch' });
  expect(await runs.review(runId)).toEqual({ kind: 'write', provider: 'openai' });
  expect(runs.jobs).toEqual([]);
  expect(await runs.write(runId)).toEqual({ left: 0 });
  expect(await runs.write(runId)).toEqual({ left: 0 });
  const { rows } = await db.pool.query(
    `SELECT i.item_no, i.request_bytes = octet_length(r.body) AS is_exact, i.request_hash = sha256(convert_to(r.body, 'UTF8')) AS is_hashed
     FROM batch_items i JOIN item_requests r USING (job_id, bucket, item_no) JOIN documents d ON d.run_id = i.job_id AND d.item_no = i.item_no
     JOIN document_batches b USING (batch_id) WHERE b.tenant_id = $1 ORDER BY 1`,
    [runs.tenants.get(caller)],
  );
  expect(rows).toEqual([1, 2, 3].map((item_no) => ({ item_no, is_exact: true, is_hashed: true })));
  expect(await states()).toEqual(['queued', 'queued', 'queued']);
});

test('a document is processing from the accepted create of its batch, and gets its rows as the items settle', async () => {
  const runId = await handedOver('one', 'two');
  expect(await states()).toEqual(['queued', 'queued']);
  expect(await runs.driveJob(runId)).toBe(false);
  expect(runs.provider.creates).toHaveLength(1);
  expect(await states()).toEqual(['processing', 'processing']);
  runs.provider.endAll();
  expect(await runs.driveJob(runId)).toBe(true);
  const documents = await runs.documents(caller, 'b');
  expect(documents.map(({ line_items }: { line_items: unknown }) => line_items)).toEqual(
    Array(2).fill([{ vendor: 'Acme', total: '12.50' }]),
  );
  for (const { created_at, started_at, completed_at } of documents) {
    expect(created_at <= started_at).toBe(true);
    expect(started_at <= completed_at).toBe(true);
  }
  // The end of the job wakes the run.
  expect(runs.woken).toContain(runId);
  expect(await runs.untilWaiting(runId)).toEqual({ kind: 'over' });
  expect(await runs.events(caller)).toMatchObject([{ run_id: runId, status: 'succeeded', all_done: true }]);
});

test('it is charged at the batch price, on record as a run over documents', async () => {
  const runId = await handedOver('one', 'two');
  await runs.driveJob(runId);
  runs.provider.endAll();
  await runs.driveJob(runId);
  await runs.untilWaiting(runId);
  const money = await runs.money(runId);
  expect(money).toHaveLength(1);
  expect(money[0]).toMatchObject({ jobId: runId, state: 'completed', settled: 2n * BATCH_PRICE, held: 0n });
  expect(money[0]?.events).toEqual(
    ['estimated', 'item.settled', 'reconciled', 'released', 'reserved', 'submitted'].map((act) => `document.${act}`),
  );
});

test('what does not fit is asked about once more by itself, with money of its own at the standard price', async () => {
  runs.provider.onAsk = (request) => {
    if (request.includes('does not fit')) return request.includes('hopeless-case') ? 'no JSON' : ONE_ROW;
    return request.includes('-case') ? rowsOf({ total: 'much' }) : ONE_ROW;
  };
  const runId = await handedOver('fine', 'mendable-case', 'hopeless-case');
  await runs.driveJob(runId);
  runs.provider.endAll();
  await runs.driveJob(runId);
  expect(await states()).toEqual(['succeeded', 'processing', 'processing']);
  expect(await runs.untilWaiting(runId)).toEqual({ kind: 'over' });
  expect(await states()).toEqual(['succeeded', 'succeeded', 'failed']);
  expect(await codes()).toEqual([null, null, 'rows_do_not_fit']);
  expect(runs.provider.completes).toHaveLength(2);
  const money = await runs.money(runId);
  expect(money.map(({ settled, held }) => [settled, held])).toEqual([
    [3n * BATCH_PRICE, 0n],
    [2n * STANDARD_PRICE, 0n],
  ]);
  const { rows } = await db.pool.query('SELECT count(*)::int AS left FROM document_repairs');
  expect(rows).toEqual([{ left: 0 }]);
});

test('where no money is left for a repair, the documents fail as they would have without', async () => {
  runs.provider.onAsk = () => 'no JSON';
  const runId = await handedOver('one');
  await runs.driveJob(runId);
  runs.provider.endAll();
  await runs.driveJob(runId);
  await db.pool.query('UPDATE budgets SET limit_amount = 0.0001 WHERE tenant_id = $1', [runs.tenants.get(caller)]);
  expect(await runs.untilWaiting(runId)).toEqual({ kind: 'over' });
  expect(await codes()).toEqual(['rows_do_not_fit']);
  expect(runs.provider.completes).toEqual([]);
  expect(await runs.money(runId)).toHaveLength(1);
});

test('a batch that expires or is cancelled at the provider fails what it had not done, by its own code', async () => {
  let runId = await handedOver('answered', 'forgotten');
  await runs.driveJob(runId);
  runs.provider.endAll('expired', (request) => request.includes('answered'));
  await runs.driveJob(runId);
  await runs.untilWaiting(runId);
  expect(await states()).toEqual(['succeeded', 'failed']);
  expect(await codes()).toEqual([null, 'expired']);
  await caller.call('DELETE', '/v1/batches/b');
  runId = await handedOver('third');
  await runs.driveJob(runId);
  runs.provider.endAll('cancelled', () => false);
  await runs.driveJob(runId);
  await runs.untilWaiting(runId);
  expect(await states()).toEqual(['failed']);
  expect(await codes()).toEqual(['upstream_canceled']);
  expect((await runs.money(runId))[0]).toMatchObject({ state: 'cancelled', settled: 0n, held: 0n });
});

test('lines that failed end their documents with their code', async () => {
  const failed = { kind: 'failed', message: 'x', nativeType: null, nativeCode: null, statusCode: 500 } as const;
  runs.provider.onAsk = (request) => {
    if (request.includes('blocked-one'))
      return { ...failed, class: 'safety_blocked', code: 'safety_blocked', usage: USAGE };
    return { ...failed, class: 'provider_error', code: 'provider_server_error' };
  };
  const runId = await handedOver('blocked-one', 'other');
  await runs.driveJob(runId);
  runs.provider.endAll();
  await runs.driveJob(runId);
  await runs.untilWaiting(runId);
  expect(await codes()).toEqual(['safety_blocked', 'provider_failed']);
});

test('a document of which no request can be made fails by itself, and the others are sent', async () => {
  const gone = await upload(caller, 'b', 'one');
  await folder.store.delete(await fileOf(db, gone.json.id));
  const runId = await handedOver('two');
  await runs.driveJob(runId);
  expect(await states()).toEqual(['failed', 'processing']);
  runs.provider.endAll();
  await runs.driveJob(runId);
  await runs.untilWaiting(runId);
  expect(await codes()).toEqual(['file_unavailable', null]);
  expect(runs.provider.asked.size).toBe(1);
  expect((await runs.money(runId))[0]).toMatchObject({ settled: BATCH_PRICE, held: 0n });
});

test('a document that failed while requests were written is another run’s only once its item is settled', async () => {
  const gone = await upload(caller, 'b', 'one');
  const file = await fileOf(db, gone.json.id);
  await upload(caller, 'b', 'two');
  const runId = await runs.process(caller, 'b', { mode: 'batch' });
  await folder.store.delete(file);
  await runs.write(runId);
  expect(await states()).toEqual(['failed', 'queued']);
  const again = () => caller.post('/v1/batches/b/process', { include: 'failed', mode: 'batch' });
  expect((await again()).json.error).toBe('nothing_to_process');
  await runs.untilWaiting(runId);
  expect((await again()).status).toBe(202);
  await runs.driveJob(runId);
  runs.provider.endAll();
  await runs.driveJob(runId);
  await runs.untilWaiting(runId);
  expect((await runs.money(runId))[0]).toMatchObject({ settled: BATCH_PRICE, held: 0n });
});

test('a sealed file that was damaged fails by itself, and one whose key is away is waited for', async () => {
  caller = await runs.caller({ storage: 'hashes' });
  const damaged = await fileOf(db, (await upload(caller, 'b', 'damaged')).json.id);
  const changed = await fileOf(db, (await upload(caller, 'b', 'changed')).json.id);
  const signal = new AbortController().signal;
  const bytes = Buffer.concat(await Array.fromAsync(await folder.store.get(damaged, signal)));
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
  await folder.store.put(damaged, bytesOf(bytes), signal);
  await documentFiles(folder.store, TEST_CIPHER, 'hashes').put(changed, bytesOf(Buffer.from('CHANGED')), signal);
  await upload(caller, 'b', 'whole');
  const runId = await runs.process(caller, 'b', { mode: 'batch' });
  const others = createKeyRing([{ id: 'other', key: randomBytes(KEY_BYTES) }]);
  const without = new TestRuns(db, folder.store, { cipher: others });
  await expect(without.write(runId)).rejects.toThrow('ArtifactStoreError');
  expect(await states()).toEqual(['queued', 'queued', 'queued']);
  await runs.untilWaiting(runId);
  await runs.driveJob(runId);
  expect(await states()).toEqual(['failed', 'failed', 'processing']);
  expect(await codes()).toEqual(['file_unavailable', 'file_unavailable', null]);
});

test('DELETE before the create cancels them all, and nothing is sent', async () => {
  const runId = await handedOver('one', 'two');
  await caller.call('DELETE', '/v1/batches/b');
  expect(await runs.review(runId)).toMatchObject({ kind: 'wait' });
  expect(await runs.driveJob(runId)).toBe(true);
  expect(await runs.untilWaiting(runId)).toEqual({ kind: 'over' });
  expect(await states()).toEqual(['canceled', 'canceled']);
  expect(runs.provider.creates).toEqual([]);
  expect((await runs.money(runId))[0]).toMatchObject({ state: 'cancelled', settled: 0n, held: 0n });
  expect(await runs.events(caller)).toMatchObject([{ run_id: runId, status: 'canceled', all_done: true }]);
});

test('DELETE after the create lets them finish', async () => {
  const runId = await handedOver('one');
  await runs.driveJob(runId);
  await caller.call('DELETE', '/v1/batches/b');
  expect(await states()).toEqual(['processing']);
  runs.provider.endAll();
  await runs.driveJob(runId);
  await runs.untilWaiting(runId);
  expect(await states()).toEqual(['succeeded']);
});

test('Temporal’s own cancel cancels what was not sent, and the batch job hears of it', async () => {
  const runId = await handedOver('one');
  expect(await runs.review(runId, { cancel: true })).toMatchObject({ kind: 'wait' });
  expect(runs.cancelledJobs).toEqual([runId]);
  expect(await states()).toEqual(['canceled']);
  expect(await runs.driveJob(runId)).toBe(true);
  expect(await runs.untilWaiting(runId)).toEqual({ kind: 'over' });
});

test('it keeps sealed what the policy keeps no content of', async () => {
  caller = await runs.caller({ storage: 'hashes' });
  runs.provider.onAsk = (request) =>
    request.includes('does not fit') ? rowsOf({ vendor: 'planted-secret' }) : 'planted-secret';
  const runId = await handedOver('planted-secret');
  await runs.driveJob(runId);
  runs.provider.endAll();
  await runs.driveJob(runId);
  const { rows: repairs } = await db.pool.query(
    "SELECT count(*) FILTER (WHERE position('planted-secret' in encode(sealed, 'escape')) > 0)::int AS clear, count(*)::int AS all FROM document_repairs",
  );
  expect(repairs).toEqual([{ clear: 0, all: 1 }]);
  await runs.untilWaiting(runId);
  expect((await runs.documents(caller, 'b'))[0].line_items).toEqual([{ vendor: 'planted-secret', total: null }]);
  const { rows } = await db.pool.query(
    `SELECT (SELECT count(*)::int FROM item_results WHERE body LIKE '%planted-secret%') AS results,
       (SELECT count(*)::int FROM item_requests WHERE body LIKE '%planted-secret%') AS requests`,
  );
  expect(rows).toEqual([{ results: 0, requests: 0 }]);
});
