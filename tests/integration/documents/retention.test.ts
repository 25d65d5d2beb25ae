import { afterAll, beforeEach, expect, test } from 'vitest';
import { createMaintenanceActivities } from '../../../activities/maintenance.ts';
import { type ArtifactStore, ArtifactStoreError } from '../../../artifacts/store.ts';
import type { DataDeletion } from '../../../contracts/data-deletion.ts';
import { insertUpload, uploadArtifactKey } from '../../../db/document-uploads.ts';
import { newId, toUuid } from '../../../db/ids.ts';
import { runActivity, testDependencies } from '../../harness/activities.ts';
import { createTestApi } from '../../harness/api.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { createTestFolder, fileOf, upload } from './document-fixture.ts';

const { db, drop } = await createTestDatabase();
const folder = createTestFolder();
afterAll(async () => {
  await drop();
  folder.remove();
});
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const later = (ms: number) => new Date(Date.now() + ms);
let artifacts: ArtifactStore;
beforeEach(() => {
  artifacts = folder.store;
});
const api = createTestApi(db, { artifacts: folder.store });

async function tidy(now: Date): Promise<void> {
  const { tidyTables } = createMaintenanceActivities({ ...testDependencies(db, { now: () => now }), artifacts });
  await runActivity(async (_: null) => tidyTables(), null);
}

const isThere = (file: string) => folder.store.has(file);
const away: ArtifactStore['delete'] = async () => {
  throw new ArtifactStoreError('unavailable', 'away');
};

async function ended(storage = 'raw') {
  const tenantId = await api.tenant();
  await db.pool.query('UPDATE tenants SET policy = $2 WHERE tenant_id = $1', [tenantId, { storage }]);
  const caller = await api.caller('tenant_admin', { tenantId });
  const { id } = (await upload(caller, 'b')).json;
  await caller.call('DELETE', '/v1/batches/b');
  return { caller, tenantId, id: String(id), file: await fileOf(db, id) };
}

test('the file of an ended document goes when its time is up, and it says so', async () => {
  const { caller, id, file } = await ended();
  await tidy(later(30 * DAY_MS - HOUR_MS));
  expect(await isThere(file)).toBe(true);
  artifacts = { ...folder.store, delete: away };
  await tidy(later(30 * DAY_MS + HOUR_MS));
  const shown = { status: 'canceled', file_name: null, line_items: null, content_deleted_at: expect.any(String) };
  expect((await caller.get(`/v1/documents/${id}`)).json).toMatchObject(shown);
  expect(await isThere(file)).toBe(true);
  artifacts = folder.store;
  await tidy(later(30 * DAY_MS + 2 * HOUR_MS));
  expect(await isThere(file)).toBe(false);
});

test('where no content is kept it goes after the read window', async () => {
  const { file } = await ended('hashes');
  await tidy(later(DAY_MS + HOUR_MS));
  expect(await isThere(file)).toBe(false);
});

test('that of a queued document stays, and that of one that is held', async () => {
  const { file, tenantId, caller } = await ended();
  const queued = await fileOf(db, (await upload(caller, 'c')).json.id);
  await db.pool.query(
    "INSERT INTO legal_holds (hold_id, tenant_id, reason, set_by, set_at) VALUES ($1, $2, 'case', 'key', now())",
    [newId('legalHold'), tenantId],
  );
  await tidy(later(90 * DAY_MS));
  expect([await isThere(file), await isThere(queued)]).toEqual([true, true]);
  await db.pool.query("UPDATE legal_holds SET lifted_at = now(), lifted_by = 'key'");
  await tidy(later(90 * DAY_MS));
  expect([await isThere(file), await isThere(queued)]).toEqual([false, true]);
});

function countsOf({ deleted, waiting }: DataDeletion) {
  return { deleted: deleted.documents, waiting: waiting.documents, held: waiting.held_documents };
}

test('a customer’s documents go with its data, and the wish ends once they are gone', async () => {
  const tenantId = await api.tenant();
  await db.pool.query("INSERT INTO customers (tenant_id, customer_id, name) VALUES ($1, 'c', 'C')", [tenantId]);
  const customer = await api.caller('customer', { tenantId, customerId: 'c' });
  const { id } = (await upload(customer, 'b')).json;
  const file = await fileOf(db, id);
  const other = await fileOf(db, (await upload(await api.caller('tenant_admin', { tenantId }), 'b')).json.id);
  const admin = await api.caller('gateway_admin');
  const path = `/v1/admin/tenants/${tenantId}/customers/c`;
  const hold = [newId('legalHold'), tenantId];
  await db.pool.query(
    "INSERT INTO legal_holds (hold_id, tenant_id, customer_id, reason, set_by, set_at) VALUES ($1, $2, 'c', 'case', 'key', now())",
    hold,
  );
  const made = await admin.post(`${path}/delete-data`, { reason: 'asked for' });
  expect([made.status, countsOf(made.json)]).toEqual([202, { deleted: 0, waiting: 0, held: 1 }]);
  const report = async () => (await admin.get(`${path}/data-deletions/${made.json.deletion_id}`)).json;
  const stateOf = async () => (await report()).state;
  await db.pool.query("UPDATE legal_holds SET lifted_at = now(), lifted_by = 'key' WHERE hold_id = $1", [hold[0]]);
  artifacts = { ...folder.store, delete: away };
  await tidy(later(1_000));
  expect([await stateOf(), countsOf(await report())]).toEqual(['running', { deleted: 0, waiting: 1, held: 0 }]);
  expect((await customer.get(`/v1/documents/${id}`)).json).toMatchObject({ status: 'canceled', file_name: null });
  artifacts = folder.store;
  await tidy(later(2_000));
  expect([await stateOf(), await isThere(file), await isThere(other)]).toEqual(['completed', false, true]);
  expect(countsOf(await report())).toEqual({ deleted: 1, waiting: 0, held: 0 });
});

test('a file whose upload broke off is deleted an hour later, and one that has a document is not', async () => {
  const { file } = await ended();
  const [stray, fresh] = [newId('documentUpload'), newId('documentUpload')];
  const tenantId = await api.tenant();
  for (const uploadId of [stray, fresh]) {
    await insertUpload(db.pool, { uploadId, tenantId }, new Date());
    await folder.store.put(uploadArtifactKey(uploadId), (async function* () {})(), new AbortController().signal);
  }
  await db.pool.query("UPDATE document_uploads SET created_at = now() - interval '2 hours' WHERE document_id = $1", [
    toUuid('documentUpload', stray),
  ]);
  artifacts = { ...folder.store, delete: away };
  await tidy(later(0));
  artifacts = folder.store;
  await tidy(later(1_000));
  expect([
    await isThere(uploadArtifactKey(stray)),
    await isThere(uploadArtifactKey(fresh)),
    await isThere(file),
  ]).toEqual([false, true, true]);
});

test('an upload that the sweep has overtaken is refused, and leaves no file', async () => {
  const put: ArtifactStore['put'] = async (key, content, signal) => {
    const stored = await folder.store.put(key, content, signal);
    await tidy(later(2 * HOUR_MS));
    return stored;
  };
  const slow = createTestApi(db, { artifacts: { ...folder.store, put } });
  const caller = await slow.caller();
  const before = await Array.fromAsync(folder.store.list('documents/'));
  const answer = await upload(caller, 'b');
  expect([answer.status, answer.json.error]).toEqual([503, 'dependency_unavailable']);
  expect((await caller.get('/v1/documents')).json.data).toEqual([]);
  expect((await Array.fromAsync(folder.store.list('documents/'))).length).toBeLessThanOrEqual(before.length);
});
