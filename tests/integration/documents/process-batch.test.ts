import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { createCipher } from '../../../encryption/create-cipher.ts';
import { type ApiCaller, createTestApi } from '../../harness/api.ts';
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
beforeEach(async () => {
  runs = new TestRuns(db, folder.store);
  caller = await runs.caller();
});

const PROCESS = '/v1/batches/b/process';
const BODY = { columns: [{ name: 'vendor' }], model: 'openai/gpt-4o-mini' };

async function uploaded(...texts: readonly string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const text of texts) ids.push((await upload(caller, 'b', text)).json.id);
  return ids;
}

describe('POST process', () => {
  test('takes what is queued, holds its money at once, and starts the run', async () => {
    const ids = await uploaded('one', 'two');
    const answer = await caller.post(PROCESS, BODY);
    expect(answer.status).toBe(202);
    expect(answer.json).toMatchObject({ batch_name: 'b', mode: 'direct', model: 'openai/gpt-4o-mini', documents: 2 });
    const runId = answer.json.run_id;
    expect(runs.api.workflows.calls).toContainEqual(['startRun', runId, 'direct', 2]);
    const documents = await runs.documents(caller, 'b');
    expect(
      documents.map(({ id, status, run_id, started_at }: Record<string, unknown>) => [id, status, run_id, started_at]),
    ).toEqual(ids.map((id) => [id, 'queued', runId, null]));
    const [money] = await runs.money(runId);
    expect(money?.held).toBeGreaterThan(0n);
    expect(money?.reserved).toBe(money?.held);
  });

  test('says clearly that there is nothing to process, and that a batch is unknown or deleted', async () => {
    expect((await caller.post('/v1/batches/none/process', BODY)).status).toBe(404);
    await uploaded('one');
    await runs.process(caller, 'b');
    expect(await caller.post(PROCESS, BODY)).toMatchObject({ status: 409, json: { error: 'nothing_to_process' } });
    expect(await caller.post(PROCESS, { ...BODY, include: 'failed' })).toMatchObject({ status: 409 });
    await caller.call('DELETE', '/v1/batches/b');
    expect(await caller.post(PROCESS, BODY)).toMatchObject({ status: 409, json: { error: 'conflict' } });
  });

  test('is refused by a gateway that has no key to seal a reply with that is to be mended, and holds nothing', async () => {
    const keyless = createTestApi(db, { artifacts: folder.store, cipher: createCipher([]) });
    const other = await keyless.caller('tenant_admin', { tenantId: String(runs.tenants.get(caller)) });
    const [id] = await uploaded('one');
    const { status, json } = await other.post(PROCESS, BODY);
    expect([status, json.error]).toEqual([422, 'encryption_not_configured']);
    expect(Number((await caller.get('/v1/budgets')).json.data[0].held)).toBe(0);
    expect((await caller.get(`/v1/documents/${id}`)).json).toMatchObject({ status: 'queued', run_id: null });
  });

  test('remembers the columns and the model, and without any is a clear 400', async () => {
    await uploaded('one');
    const none = await caller.post(PROCESS, { model: 'openai/gpt-4o-mini' });
    expect(none).toMatchObject({ status: 400, json: { error: 'invalid_request', field: 'columns' } });
    const first = await caller.post(PROCESS, BODY);
    await uploaded('two');
    const second = await caller.post(PROCESS);
    expect(second.status).toBe(202);
    expect([second.json.columns, second.json.model]).toEqual([first.json.columns, first.json.model]);
  });

  test.each([
    [{ columns: [] }, 'columns'],
    [{ columns: [{ name: 'a' }, { name: 'A' }] }, 'columns'],
    [{ mode: 'later' }, 'mode'],
    [{ include: 'all' }, 'include'],
    [{ colums: [] }, 'colums'],
  ])('refuses %j and names the field', async (wrong, field) => {
    await uploaded('one');
    const answer = await caller.post(PROCESS, { ...BODY, ...wrong });
    expect(answer.status).toBe(400);
    expect(answer.text).toContain(field);
  });

  test('refuses what cannot be paid or run, and changes nothing', async () => {
    caller = await runs.caller({}, '0.00000001');
    await uploaded('one');
    const before = await runs.documents(caller, 'b');
    expect(await caller.post(PROCESS, BODY)).toMatchObject({ status: 402, json: { error: 'budget_exceeded' } });
    const unknown = await caller.post(PROCESS, { ...BODY, model: 'nothing' });
    expect(unknown).toMatchObject({ status: 422, json: { error: 'model_unknown', field: 'model' } });
    expect(await runs.documents(caller, 'b')).toEqual(before);
    const { rows } = await db.pool.query(
      `SELECT (SELECT count(*)::int FROM document_runs r WHERE r.tenant_id = $1) AS runs,
         (SELECT count(*)::int FROM batch_jobs j WHERE j.tenant_id = $1) AS jobs,
         (SELECT columns FROM document_batches b WHERE b.tenant_id = $1) AS columns`,
      [runs.tenants.get(caller)],
    );
    expect(rows).toEqual([{ runs: 0, jobs: 0, columns: null }]);
  });

  test('with the same Idempotency-Key starts one run, and two at once take each document once', async () => {
    await uploaded('one', 'two', 'three');
    const key = { 'idempotency-key': 'same' };
    const [first, second] = await Promise.all([caller.post(PROCESS, BODY, key), caller.post(PROCESS, BODY, key)]);
    expect([first?.status, second?.status]).toEqual([202, 202]);
    expect(first?.json).toEqual(second?.json);
    await uploaded('four', 'five');
    const answers = await Promise.all([1, 2, 3].map(() => caller.post(PROCESS, BODY)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([202, 409, 409]);
    expect(answers.find(({ status }) => status === 202)?.json.documents).toBe(2);
  });

  test('is of the batch that its query names: one Idempotency-Key is no other batch’s', async () => {
    const tenantId = runs.tenants.get(caller) ?? '';
    await db.pool.query("INSERT INTO customers (tenant_id, customer_id, name) VALUES ($1, 'c', 'C')", [tenantId]);
    const customer = await runs.api.caller('customer', { tenantId, customerId: 'c' });
    await uploaded('one');
    await upload(caller, 'other', 'two');
    await upload(customer, 'b', 'three');
    const key = { 'idempotency-key': 'same' };
    for (const [path, first, second] of [
      ['/v1/batch/process', 'batch_name=b', 'batch_name=other'],
      [PROCESS, 'customer_id=c', ''],
    ]) {
      expect((await caller.post(`${path}?${first}`, BODY, key)).status).toBe(202);
      expect((await caller.post(`${path}?${first}`, BODY, key)).headers.get('idempotency-replayed')).toBe('true');
      const other = await caller.post(`${path}?${second}`, BODY, key);
      expect([other.status, other.json.error]).toEqual([409, 'idempotency_conflict']);
    }
  });

  test('is nobody else’s', async () => {
    await uploaded('one');
    const other = await runs.caller();
    expect((await other.post(PROCESS, BODY)).status).toBe(404);
  });
});
