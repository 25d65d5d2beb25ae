import { randomUUID } from 'node:crypto';
import readSheet from 'read-excel-file/node';
import { afterAll, describe, expect, test } from 'vitest';
import { rowsContext } from '../../../db/document-view.ts';
import { toUuid } from '../../../db/ids.ts';
import { TEST_CIPHER } from '../../harness/activities.ts';
import { type ApiCaller, createTestApi } from '../../harness/api.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { testLimits } from '../../harness/request-limits.ts';
import { createTestFolder, upload } from './document-fixture.ts';

const { db, drop } = await createTestDatabase();
const folder = createTestFolder();
afterAll(async () => {
  await drop();
  folder.remove();
});
let time = new Date('2026-08-01T10:00:00Z');
const later = (seconds: number) => {
  time = new Date(time.getTime() + seconds * 1_000);
  return time.toISOString();
};
const api = createTestApi(db, { artifacts: folder.store, now: () => time });

/** As a run moves a document. */
async function move(
  id: string,
  to: 'processing' | 'succeeded' | 'failed',
  errorCode: string | null = null,
): Promise<void> {
  await db.pool.query(
    `UPDATE documents SET state = $2, run_id = coalesce(run_id, $3), error_code = $4,
       started_at = coalesce(started_at, CASE WHEN $2 = 'processing' THEN $5::timestamptz END),
       completed_at = CASE WHEN $2 <> 'processing' THEN $5::timestamptz END
     WHERE document_id = $1`,
    [toUuid('doc', id), to, randomUUID(), errorCode, time],
  );
}

async function giveRows(id: string, lineItems: unknown[], provenance: unknown[], isSealed = false): Promise<void> {
  const content = JSON.stringify({ line_items: lineItems, provenance });
  const sealed = isSealed ? await TEST_CIPHER.seal(Buffer.from(content), rowsContext(id)) : null;
  const clear = [JSON.stringify(lineItems), JSON.stringify(provenance)];
  await db.pool.query(
    'INSERT INTO document_rows (document_id, line_items, provenance, sealed) VALUES ($1, $2, $3, $4)',
    [toUuid('doc', id), ...(isSealed ? [null, null, sealed] : [...clear, null])],
  );
}

const batchOf = async (caller: ApiCaller, name: string) =>
  (await caller.get(`/v1/batches/${encodeURIComponent(name)}`)).json;
const idOf = async (caller: ApiCaller, batch: string, text = randomUUID()): Promise<string> =>
  (await upload(caller, batch, text)).json.id;

describe('a batch', () => {
  test('has the state and the times of its documents together', async () => {
    const caller = await api.caller();
    const uploadedAt = later(1);
    const one = await idOf(caller, 'b');
    later(1);
    const two = await idOf(caller, 'b');
    const queued = { status: 'queued', all_done: false, created_at: uploadedAt, started_at: null, completed_at: null };
    expect(await batchOf(caller, 'b')).toMatchObject(queued);
    const startedAt = later(1);
    await move(one, 'processing');
    const running = { ...queued, status: 'processing', started_at: startedAt };
    expect(await batchOf(caller, 'b')).toMatchObject(running);
    later(1);
    await move(one, 'failed', 'expired');
    expect(await batchOf(caller, 'b')).toMatchObject(running);
    later(1);
    await move(two, 'processing');
    const endedAt = later(1);
    await move(two, 'succeeded');
    const counts = { queued: 0, processing: 0, succeeded: 1, failed: 1, canceled: 0 };
    const ended = { ...running, status: 'succeeded', all_done: true, completed_at: endedAt, counts };
    expect(await batchOf(caller, 'b')).toMatchObject(ended);
    later(1);
    await idOf(caller, 'b');
    expect(await batchOf(caller, 'b')).toMatchObject({ ...running, counts: { ...counts, queued: 1 } });
  });

  test('shows the columns and the model that the next run takes unless it names its own', async () => {
    const caller = await api.caller();
    await idOf(caller, 'b');
    expect(await batchOf(caller, 'b')).toMatchObject({ columns: null, model: null });
    const started = await caller.post('/v1/batches/b/process', {
      columns: [{ name: 'total', type: 'currency', required: true }],
      model: 'openai/gpt-4o-mini',
    });
    expect(started.status).toBe(202);
    const columns = [{ name: 'total', description: null, type: 'currency', required: true }];
    const shown = { columns, model: 'openai/gpt-4o-mini' };
    expect(await batchOf(caller, 'b')).toMatchObject(shown);
    expect((await caller.get('/v1/batches')).json.data).toMatchObject([shown]);
  });

  test('is found by its percent-encoded name, whatever that is, and by query', async () => {
    const caller = await api.caller();
    for (const name of ['a/b', 'a b', 'größe 🧾', '100%', '%2F', 'a?b=c&d#e', 'results', 'a+b', '/', 'x/../y']) {
      await upload(caller, name);
      expect((await batchOf(caller, name)).batch_name).toBe(name);
      const query = `?batch_name=${encodeURIComponent(name)}`;
      expect((await caller.get(`/v1/batch${query}`)).json.batch_name).toBe(name);
      expect((await caller.get(`/v1/batches/${encodeURIComponent(name)}/results`)).json.documents).toHaveLength(1);
      expect((await caller.get(`/v1/batch/results${query}`)).json.batch_name).toBe(name);
    }
    await upload(caller, '..');
    expect((await caller.get('/v1/batch?batch_name=..')).json.batch_name).toBe('..');
    expect((await caller.get('/v1/batches/no-such')).json).toMatchObject({
      error: 'not_found',
      message: 'No such batch.',
    });
    for (const path of ['/v1/batches/%00', '/v1/batches/%ff', '/v1/batch?batch_name=%00', '/v1/batch?batch_name='])
      expect([path, (await caller.get(path)).status]).toEqual([path, 404]);
  });

  test('of a customer is that customer’s and its tenant’s, and another one than the tenant’s own of that name', async () => {
    const tenantId = await api.tenant();
    await db.pool.query(
      "INSERT INTO customers (tenant_id, customer_id, name) VALUES ($1, 'c1', 'C'), ($1, 'c2', 'D')",
      [tenantId],
    );
    const tenant = await api.caller('tenant_admin', { tenantId });
    const customer = await api.caller('customer', { tenantId, customerId: 'c1' });
    const other = await api.caller('customer', { tenantId, customerId: 'c2' });
    await upload(tenant, 'b', 'of the tenant');
    const { json } = await upload(customer, 'b', 'of the customer');
    expect(json.customer_id).toBe('c1');
    expect((await batchOf(customer, 'b')).customer_id).toBe('c1');
    expect((await batchOf(tenant, 'b')).customer_id).toBeNull();
    expect((await tenant.get('/v1/batches/b?customer_id=c1')).json.customer_id).toBe('c1');
    expect((await tenant.get(`/v1/documents/${json.id}`)).status).toBe(200);
    expect((await other.get(`/v1/documents/${json.id}`)).status).toBe(404);
    for (const path of ['/v1/batches/b', '/v1/batches/b?customer_id=c1'])
      expect((await other.get(path)).status).toBe(404);
    expect((await tenant.get('/v1/batches')).json.data).toHaveLength(2);
    expect((await customer.get('/v1/batches')).json.data).toHaveLength(1);
    expect((await other.get('/v1/documents')).json.data).toEqual([]);
    const listed = await tenant.get('/v1/documents?customer_id=c1');
    expect(listed.json.data.map(({ id }: { id: string }) => id)).toEqual([json.id]);
    expect((await tenant.get('/v1/documents')).json.data).toHaveLength(2);
    expect((await other.get('/v1/documents?customer_id=c1')).status).toBe(404);
    expect((await customer.get('/v1/documents?customer_id=c1')).json.data).toHaveLength(1);
    expect((await tenant.get('/v1/documents?customer_id=%00')).status).toBe(404);
  });

  test('of one project is not another’s, which may not use its name', async () => {
    const tenantId = await api.tenant();
    await db.pool.query("INSERT INTO projects (tenant_id, project_id, name) VALUES ($1, 'p1', 'P'), ($1, 'p2', 'Q')", [
      tenantId,
    ]);
    const mine = await api.caller('project', { tenantId, projectId: 'p1' });
    const theirs = await api.caller('project', { tenantId, projectId: 'p2' });
    await upload(mine, 'b');
    expect((await theirs.get('/v1/batches/b')).status).toBe(404);
    expect((await upload(theirs, 'b')).json).toMatchObject({ error: 'conflict', field: 'batch_name' });
    expect((await upload(await api.caller('tenant_admin', { tenantId }), 'b')).json.project_id).toBe('p1');
  });

  test('lists page by cursor, batches newest first and documents in the order of upload', async () => {
    const caller = await api.caller();
    const ids: string[] = [];
    for (const name of ['one', 'two', 'three']) ids.push(await idOf(caller, name), await idOf(caller, name));
    const names: string[] = [];
    for (let cursor = ''; ; ) {
      const { json } = await caller.get(`/v1/batches?limit=2${cursor}`);
      names.push(...json.data.map((batch: { batch_name: string }) => batch.batch_name));
      if (json.next_cursor === null) break;
      cursor = `&cursor=${json.next_cursor}`;
    }
    expect(names).toEqual(['three', 'two', 'one']);
    const found: string[] = [];
    for (let cursor = ''; ; ) {
      const { json } = await caller.get(`/v1/documents?limit=4${cursor}`);
      found.push(...json.data.map(({ id }: { id: string }) => id));
      if (json.next_cursor === null) break;
      cursor = `&cursor=${json.next_cursor}`;
    }
    expect(found).toEqual(ids);
    const listed = async (query: string) => (await caller.get(`/v1/documents?${query}`)).json;
    expect((await listed('batch_name=two')).data.map(({ id }: { id: string }) => id)).toEqual(ids.slice(2, 4));
    expect((await listed('batch_name=two&status=succeeded')).data).toEqual([]);
    expect(await listed('batch_name=none')).toEqual({ data: [], next_cursor: null });
    expect((await listed('status=cancelled')).error).toBe('invalid_request');
    expect((await listed('cursor=x')).error).toBe('invalid_cursor');
  });
});

describe('a document', () => {
  test('shows its rows once it succeeded, in clear or sealed, and why it failed', async () => {
    const caller = await api.caller();
    const rows = [{ date: '2026-01-01', total: '5.00' }];
    const provenance = [{ page: 1, confidence: 0.9 }];
    const [clear, sealed, failed] = [await idOf(caller, 'b'), await idOf(caller, 'b'), await idOf(caller, 'b')];
    for (const id of [clear, sealed, failed]) await move(id, 'processing');
    await giveRows(clear, rows, provenance);
    await giveRows(sealed, rows, provenance, true);
    expect((await caller.get(`/v1/documents/${clear}`)).json.line_items).toBeNull();
    await move(clear, 'succeeded');
    await move(sealed, 'succeeded');
    await move(failed, 'failed', 'upstream_canceled');
    for (const id of [clear, sealed])
      expect((await caller.get(`/v1/documents/${id}`)).json).toMatchObject({
        status: 'succeeded',
        line_items: rows,
        provenance,
      });
    const error = { code: 'upstream_canceled', message: expect.stringMatching(/provider/) };
    expect((await caller.get(`/v1/documents/${failed}`)).json).toMatchObject({
      status: 'failed',
      line_items: null,
      processing_error: error,
    });
    const { json } = await caller.get('/v1/batches/b/results');
    expect(json).toMatchObject({
      batch_name: 'b',
      status: 'succeeded',
      all_done: true,
      completed_at: time.toISOString(),
    });
    expect(json.documents).toMatchObject([
      { id: clear, line_items: rows, provenance, file_name: 'a.txt' },
      { id: sealed, line_items: rows },
      { id: failed, line_items: null, processing_error: error },
    ]);
  });

  test('whose content was deleted says so', async () => {
    const caller = await api.caller();
    const id = await idOf(caller, 'b');
    await move(id, 'processing');
    await giveRows(id, [{ a: 1 }], [{}]);
    await move(id, 'succeeded');
    await db.pool.query('UPDATE documents SET content_deleted_at = $2 WHERE document_id = $1', [
      toUuid('doc', id),
      time,
    ]);
    expect((await caller.get(`/v1/documents/${id}`)).json).toMatchObject({
      line_items: null,
      content_deleted_at: time.toISOString(),
    });
  });

  test('in a page of many bytes comes in the next one', async () => {
    const caller = await api.caller();
    const ids = [await idOf(caller, 'big'), await idOf(caller, 'big'), await idOf(caller, 'big')];
    for (const id of ids) {
      await move(id, 'processing');
      await giveRows(id, [{ text: 'x'.repeat(9 * 1024 ** 2) }], [{}]);
      await move(id, 'succeeded');
    }
    const first = (await caller.get('/v1/documents?batch_name=big')).json;
    expect(first.data).toHaveLength(2);
    const second = (await caller.get(`/v1/documents?batch_name=big&cursor=${first.next_cursor}`)).json;
    expect([second.data.length, second.next_cursor]).toEqual([1, null]);
    expect((await caller.get('/v1/batches/big/results')).json.documents).toHaveLength(3);
  });
});

describe('results', () => {
  const XLSX = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

  async function processed(): Promise<ApiCaller> {
    const caller = await api.caller();
    const { json } = await upload(caller, 'b', 'text', '=a.txt');
    const { rows } = await db.pool.query(
      `INSERT INTO document_runs (run_id, batch_id, tenant_id, mode, columns, model, documents, state, created_at)
       SELECT $2, batch_id, tenant_id, 'direct', $3, 'a', 1, 'finished', now() FROM documents WHERE document_id = $1 RETURNING run_id`,
      [
        toUuid('doc', json.id),
        randomUUID(),
        JSON.stringify([{ name: 'total', description: null, type: 'currency', required: false }]),
      ],
    );
    expect(rows).toHaveLength(1);
    await move(json.id, 'processing');
    await giveRows(json.id, [{ total: '12.50' }, { total: '-1' }], [{ page: 1, confidence: null }]);
    await move(json.id, 'succeeded');
    return caller;
  }

  test('come as JSON where nothing else is preferred', async () => {
    const caller = await processed();
    for (const accept of [
      'application/json',
      '*/*',
      'application/*',
      'application/json, text/csv;q=0.5',
      'text/csv;q=0, */*',
    ])
      expect([accept, (await caller.get('/v1/batches/b/results', { accept })).headers.get('content-type')]).toEqual([
        accept,
        'application/json',
      ]);
    expect((await caller.get('/v1/batches/b/results')).json.documents).toHaveLength(1);
  });

  test('come as CSV, with a byte order mark where that is asked for', async () => {
    const caller = await processed();
    const plain = await caller.get('/v1/batches/b/results', { accept: 'text/csv' });
    expect(plain.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present');
    const lines = plain.text.trim().split('\r\n');
    expect(lines[0]).toBe(
      'document,file_name,status,error,page,confidence,total,batch_created_at,batch_started_at,batch_completed_at',
    );
    expect(lines[1]).toMatch(
      /^doc_[0-9a-z]+,'=a\.txt,succeeded,,1,,12\.50,[-:.TZ0-9]{24},[-:.TZ0-9]{24},[-:.TZ0-9]{24}$/,
    );
    expect(lines[2]).toMatch(/,-1(,[-:.TZ0-9]{24}){3}$/);
    const response = await api.app.request('/v1/batches/b/results?byte_order_mark=true', {
      headers: { accept: 'text/csv', authorization: `Bearer ${caller.key}` },
    });
    expect([...new Uint8Array(await response.arrayBuffer()).subarray(0, 3)]).toEqual([0xef, 0xbb, 0xbf]);
  });

  test('come as XLSX with the times of the batch', async () => {
    const caller = await processed();
    const response = await api.app.request('/v1/batches/b/results', {
      headers: { accept: XLSX, authorization: `Bearer ${caller.key}` },
    });
    expect(response.headers.get('content-type')).toBe(XLSX);
    const sheets = await readSheet(Buffer.from(await response.arrayBuffer()));
    expect(sheets.map(({ sheet }) => sheet)).toEqual(['Results']);
    const row = sheets[0]?.data[1] ?? [];
    expect(row.slice(1, 7)).toEqual(['=a.txt', 'succeeded', null, 1, null, 12.5]);
    expect(row.slice(8)).toEqual([time.toISOString(), time.toISOString()]);
  });

  test('come in no other form', async () => {
    const caller = await processed();
    for (const accept of ['image/png', 'application/json;q=0']) {
      const refused = await caller.get('/v1/batches/b/results', { accept });
      expect([refused.status, refused.json.error]).toEqual([406, 'not_acceptable']);
    }
  });
});

test('status reads of a key are limited together to 120 in a minute, across processes, and other calls are not', async () => {
  const limits = () => testLimits(db);
  const processes = [limits(), limits()].map((each) => createTestApi(db, { artifacts: folder.store, limits: each }));
  const [first, second] = processes;
  if (first === undefined || second === undefined) throw new Error('two are needed');
  const caller = await first.caller();
  const id = await idOf(caller, 'b');
  const paths = [
    '/v1/batches/b',
    '/v1/batches',
    `/v1/documents/${id}`,
    '/v1/documents?batch_name=b',
    '/v1/batch?batch_name=b',
  ];
  const ask = (app: typeof first.app, path: string) =>
    app.request(path, { headers: { authorization: `Bearer ${caller.key}` } });
  const answers = await Promise.all(
    Array.from({ length: 130 }, (_, index) => ask((index % 2 === 0 ? first : second).app, paths[index % 5] ?? '')),
  );
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(120);
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused).toHaveLength(10);
  for (const { headers } of refused) {
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    expect(headers.get('ratelimit')).toMatch(/^"requests";r=\d+;t=\d+, "status";r=0;t=\d+$/);
    expect(headers.get('ratelimit-policy')).toMatch(/^"requests";q=\d+;w=60, "status";q=120;w=60$/);
  }
  expect(await refused[0]?.json()).toMatchObject({ error: 'rate_limited' });
  expect((await caller.get('/v1/batches/b/results')).status).toBe(200);
  expect((await upload(caller, 'b')).status).toBe(201);
});
