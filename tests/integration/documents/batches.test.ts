import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import { announceRunFinished } from '../../../db/document-events.ts';
import { fromUuid, toUuid } from '../../../db/ids.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { secretContext } from '../../../db/webhook-secrets.ts';
import { TEST_CIPHER } from '../../harness/activities.ts';
import { type ApiCaller, createTestApi } from '../../harness/api.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { createTestFolder, upload } from './document-fixture.ts';

const { db, drop } = await createTestDatabase();
const folder = createTestFolder();
afterAll(async () => {
  await drop();
  folder.remove();
});
const api = createTestApi(db, { artifacts: folder.store });
const URL = 'http://127.0.0.1:9/hook';

async function startProcessing(id: string): Promise<void> {
  await db.pool.query(
    "UPDATE documents SET state = 'processing', started_at = now(), run_id = $2 WHERE document_id = $1",
    [toUuid('doc', id), randomUUID()],
  );
}

/** What is to be sent to a URL, in order. */
async function deliveriesTo(url: string) {
  const { rows } = await db.pool.query(
    'SELECT event_type, subject_id, secret_id, body FROM webhook_deliveries WHERE url = $1 ORDER BY created_at, delivery_id',
    [url],
  );
  return rows.map(({ body, ...row }) => ({ ...row, ...JSON.parse(body) }));
}

const hook = (caller: ApiCaller, batch: string, url = URL) =>
  caller.call('PUT', `/v1/batches/${batch}/webhook`, { json: { url } });

describe('deleting a batch', () => {
  test('cancels what is queued, lets the rest finish, and is safe twice', async () => {
    const caller = await api.caller();
    const running = (await upload(caller, 'b', 'one')).json.id;
    const queued = (await upload(caller, 'b', 'two')).json.id;
    await startProcessing(running);
    const deleted = await caller.call('DELETE', '/v1/batches/b');
    expect(deleted.status).toBe(200);
    expect(deleted.json).toMatchObject({
      status: 'processing',
      all_done: false,
      completed_at: null,
      counts: { processing: 1, canceled: 1 },
    });
    expect((await caller.call('DELETE', '/v1/batches/b')).text).toBe(deleted.text);
    expect((await caller.get(`/v1/documents/${queued}`)).json).toMatchObject({
      status: 'canceled',
      started_at: null,
      completed_at: expect.any(String),
      processing_error: null,
    });
    expect((await caller.get(`/v1/documents/${running}`)).json.status).toBe('processing');
    expect((await caller.get('/v1/batches/b')).json.deleted_at).toBe(deleted.json.deleted_at);
    expect((await caller.call('DELETE', '/v1/batches/none')).status).toBe(404);
    const { rows } = await db.pool.query("SELECT details FROM audit_log WHERE act = 'document_batch.deleted'");
    expect(rows).toEqual([{ details: { canceled: 1 } }]);
  });

  test('or uploading into it, or processing it, while another request holds it is told to try again', async () => {
    const caller = await api.caller();
    await upload(caller, 'held', 'one');
    const answers = await inTransaction(db, async (client) => {
      const { rows } = await client.query(
        "SELECT batch_id FROM document_batches WHERE name = 'held' FOR NO KEY UPDATE",
      );
      expect(rows).toHaveLength(1);
      return Promise.all([
        upload(caller, 'held', 'two'),
        caller.post('/v1/batches/held/process', { columns: [{ name: 'a' }], model: 'openai/gpt-4o-mini' }),
        caller.call('DELETE', '/v1/batches/held'),
      ]);
    });
    const told = answers.map(({ status, json, headers }) => [status, json.error, headers.get('retry-after')]);
    expect(told).toEqual(Array(3).fill([409, 'job_busy', '1']));
    expect((await caller.get('/v1/batches/held')).json.counts).toMatchObject({ queued: 1 });
  });

  test('frees the name for a new batch, and leaves the documents of the old one to be read', async () => {
    const caller = await api.caller();
    const old = (await upload(caller, 'b', 'same')).json.id;
    await caller.call('DELETE', '/v1/batch?batch_name=b');
    const next = (await upload(caller, 'b', 'same')).json;
    expect(next.duplicate_of).toBeNull();
    expect((await caller.get('/v1/batches/b')).json).toMatchObject({
      status: 'queued',
      deleted_at: null,
      counts: { queued: 1 },
    });
    expect((await caller.get(`/v1/documents/${old}`)).json.status).toBe('canceled');
    expect((await caller.get('/v1/batches')).json.data).toMatchObject([
      { deleted_at: null },
      { deleted_at: expect.any(String) },
    ]);
  });

  test('at the same time as uploads leaves each document in one batch', async () => {
    const caller = await api.caller();
    await upload(caller, 'b', 'first');
    const uploads = Array.from({ length: 6 }, (_, index) => upload(caller, 'b', `text ${index}`));
    const answers = await Promise.all([...uploads, caller.call('DELETE', '/v1/batches/b')]);
    expect(answers.map(({ status }) => status)).toEqual([...Array(6).fill(201), 200]);
    const { data } = (await caller.get('/v1/batches')).json;
    const sums = data.map(({ counts }: { counts: Record<string, number> }) => [counts['queued'], counts['canceled']]);
    expect(sums.flat().reduce((sum: number, each: number) => sum + each, 0)).toBe(7);
    for (const { deleted_at: deletedAt, counts } of data)
      expect(deletedAt === null ? counts.canceled : counts.queued).toBe(0);
  });

  test('that ends it tells its webhook, once', async () => {
    const caller = await api.caller();
    const url = `${URL}/deleted`;
    await hook(caller, 'b', url);
    await upload(caller, 'b');
    await caller.call('DELETE', '/v1/batches/b');
    await caller.call('DELETE', '/v1/batches/b');
    const counts = { queued: 0, processing: 0, succeeded: 0, failed: 0, canceled: 1 };
    expect(await deliveriesTo(url)).toMatchObject([
      {
        event_type: 'document_batch.run_finished',
        type: 'document_batch.run_finished',
        subject_id: expect.stringMatching(/^docbatch_/),
        data: { run_id: null, batch_name: 'b', status: 'canceled', all_done: true, counts },
      },
    ]);
  });

  test('that leaves some at work tells nobody yet', async () => {
    const caller = await api.caller();
    const url = `${URL}/at-work`;
    await hook(caller, 'b', url);
    await startProcessing((await upload(caller, 'b', 'one')).json.id);
    await upload(caller, 'b', 'two');
    await caller.call('DELETE', '/v1/batches/b');
    expect(await deliveriesTo(url)).toEqual([]);
  });
});

describe('the webhook of a batch', () => {
  test('is set before there is a batch, shows its secret once, and is replaced and removed', async () => {
    const caller = await api.caller();
    const made = await hook(caller, 'a%2Fb');
    expect(made.status).toBe(201);
    expect(made.json).toEqual({
      batch_name: 'a/b',
      customer_id: null,
      url: URL,
      created_at: expect.any(String),
      secret: expect.stringMatching(/^whsec_/),
    });
    const { secret: _, ...shown } = made.json;
    const got = await caller.get('/v1/batches/a%2Fb/webhook');
    expect(got.json).toEqual(shown);
    expect(got.text).not.toContain('whsec_');
    const other = `${URL}/other`;
    const replaced = await caller.call('PUT', '/v1/batch/webhook?batch_name=a/b', { json: { url: other } });
    expect([replaced.status, replaced.json]).toEqual([200, { ...shown, url: other, secret: null }]);
    expect((await caller.get('/v1/batch/webhook?batch_name=a/b')).json.url).toBe(other);
    expect((await caller.call('DELETE', '/v1/batches/a%2Fb/webhook')).status).toBe(204);
    expect((await caller.call('DELETE', '/v1/batches/a%2Fb/webhook')).status).toBe(404);
    expect((await caller.call('DELETE', '/v1/batch/webhook?batch_name=a/b')).status).toBe(404);
    expect((await caller.get('/v1/batches/a%2Fb/webhook')).json).toMatchObject({ error: 'not_found' });
  });

  test('has a URL that can be stored', async () => {
    const refused = await hook(await api.caller(), 'b', 'https://example.com/a\u0000b');
    expect([refused.status, refused.json.error, refused.json.field]).toEqual([400, 'invalid_request', 'url']);
  });

  test('has a secret of its own, which signs, and leaves that of jobs alone', async () => {
    const caller = await api.caller();
    const url = `${URL}/signed`;
    const { json } = await hook(caller, 'b', url);
    await hook(caller, 'c', `${URL}/c`);
    expect((await caller.get('/v1/webhooks/job-secret')).json.exists).toBe(false);
    expect((await caller.post('/v1/webhooks/job-secret/rotate', {})).status).toBe(200);
    await upload(caller, 'b');
    await caller.call('DELETE', '/v1/batches/b');
    const [delivery] = await deliveriesTo(url);
    const { rows } = await db.pool.query('SELECT sealed FROM webhook_secrets WHERE secret_id = $1', [
      delivery.secret_id,
    ]);
    const secret = await TEST_CIPHER.open(rows[0].sealed, secretContext(delivery.secret_id));
    expect(`whsec_${secret.toString('base64')}`).toBe(json.secret);
  });

  test('of one project is called for no batch of another’s, and gives way to that one’s', async () => {
    const tenantId = await api.tenant();
    await db.pool.query("INSERT INTO projects (tenant_id, project_id, name) VALUES ($1, 'p1', 'P'), ($1, 'p2', 'Q')", [
      tenantId,
    ]);
    const early = await api.caller('project', { tenantId, projectId: 'p1' });
    const owner = await api.caller('project', { tenantId, projectId: 'p2' });
    const tenant = await api.caller('tenant_admin', { tenantId });
    const urls = ['early', 'owner', 'tenant'].map((name) => `${URL}/of-${name}`);
    expect((await hook(early, 'b', urls[0])).status).toBe(201);
    expect((await hook(owner, 'b', urls[1])).json.error).toBe('conflict');
    await upload(owner, 'b');
    await owner.call('DELETE', '/v1/batches/b');
    expect(await deliveriesTo(urls[0] ?? '')).toEqual([]);
    await upload(owner, 'b');
    expect((await hook(early, 'b', urls[0])).json).toMatchObject({ error: 'conflict', field: 'batch_name' });
    expect((await hook(owner, 'b', urls[1])).status).toBe(201);
    expect((await early.get('/v1/batches/b/webhook')).status).toBe(404);
    await owner.call('DELETE', '/v1/batches/b');
    expect(await deliveriesTo(urls[1] ?? '')).toMatchObject([{ data: { batch_name: 'b', customer_id: null } }]);
    await owner.call('DELETE', '/v1/batches/b/webhook');
    await hook(tenant, 'b', urls[2]);
    await upload(owner, 'b');
    await owner.call('DELETE', '/v1/batches/b');
    expect(await deliveriesTo(urls[2] ?? '')).toHaveLength(1);
  });

  test('is called at the end of every run of every batch of its name, and of no other', async () => {
    const caller = await api.caller();
    const url = `${URL}/runs`;
    await hook(caller, 'b', url);
    const endpoint = await caller.post('/v1/webhooks', { url: `${URL}/endpoint` });
    expect(endpoint.status).toBe(201);
    for (const batch of ['b', 'other']) {
      await upload(caller, batch);
      const { rows } = await db.pool.query(
        'SELECT batch_id FROM document_batches WHERE name = $1 AND tenant_id = (SELECT tenant_id FROM document_webhooks WHERE url = $2)',
        [batch, url],
      );
      for (const run of [randomUUID(), randomUUID()]) {
        const runId = fromUuid('documentRun', run);
        await inTransaction(db, (client) =>
          announceRunFinished(client, { batchId: rows[0].batch_id, runId, jobUuid: null }),
        );
      }
    }
    const sent = await deliveriesTo(url);
    expect(sent.map(({ data }) => data)).toMatchObject([
      { run_id: expect.stringMatching(/^run_/), batch_name: 'b', status: 'queued', all_done: false },
      { run_id: expect.stringMatching(/^run_/), batch_name: 'b' },
    ]);
    const { rows: toEndpoint } = await db.pool.query('SELECT FROM webhook_deliveries WHERE endpoint_id = $1', [
      endpoint.json.endpoint_id,
    ]);
    expect(toEndpoint).toHaveLength(4);
  });

  test('goes to public addresses alone', async () => {
    const caller = await api.caller();
    for (const url of ['http://example.com/', 'https://10.0.0.1/', 'https://localhost/', 'ftp://x/', 'x'])
      expect([url, (await hook(caller, 'b', url)).json.error]).toEqual([url, 'invalid_request']);
    expect((await caller.call('PUT', '/v1/batches/b/webhook', { json: { url: URL, x: 1 } })).json.field).toBe('x');
  });

  test('is set by two at once for one', async () => {
    const tenantId = await api.tenant();
    const caller = await api.caller('tenant_admin', { tenantId });
    const answers = await Promise.all([1, 2, 3].map(() => hook(caller, 'b')));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 200, 201]);
    expect(answers.filter(({ json }) => json.secret !== null).map(({ status }) => status)).toEqual([201]);
    const { rows } = await db.pool.query(
      'SELECT FROM webhook_secrets WHERE document_webhook_id IS NOT NULL AND tenant_id = $1',
      [tenantId],
    );
    expect(rows).toHaveLength(1);
  });
});
