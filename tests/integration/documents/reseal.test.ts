import { randomBytes } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import { repairContext } from '../../../db/document-repairs.ts';
import { rowsContext } from '../../../db/document-view.ts';
import { newId, toUuid } from '../../../db/ids.ts';
import { createKeyRing, KEY_BYTES } from '../../../encryption/key-ring.ts';
import { createTestApi } from '../../harness/api.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { createTestFolder, upload } from './document-fixture.ts';

const { db, drop } = await createTestDatabase();
const folder = createTestFolder();
afterAll(async () => {
  await drop();
  folder.remove();
});

test('sealed rows of documents, replies that are to be mended and names of files are sealed anew when the key of the gateway changes', async () => {
  const key = (id: string) => ({ id, key: randomBytes(KEY_BYTES) });
  const [old, fresh] = [key('old'), key('fresh')];
  const before = createTestApi(db, { cipher: createKeyRing([old]), artifacts: folder.store });
  const tenantId = await before.tenant();
  await db.pool.query('UPDATE tenants SET policy = $2 WHERE tenant_id = $1', [tenantId, { storage: 'hashes' }]);
  const caller = await before.caller('tenant_admin', { tenantId });
  const documentId = (await upload(caller, 'b', 'text', 'private.txt')).json.id;
  await db.pool.query('INSERT INTO document_rows (document_id, sealed) VALUES ($1, $2)', [
    toUuid('doc', documentId),
    await createKeyRing([old]).seal(Buffer.from('rows'), rowsContext(documentId)),
  ]);
  const uuid = toUuid('doc', documentId) ?? '';
  await db.pool.query('INSERT INTO document_repairs (document_id, run_id, sealed) VALUES ($1, $2, $3)', [
    uuid,
    toUuid('documentRun', newId('documentRun')),
    await createKeyRing([old]).seal(Buffer.from('reply'), repairContext(uuid)),
  ]);
  const admin = await createTestApi(db, { cipher: createKeyRing([fresh, old]) }).caller('gateway_admin');
  expect((await admin.post('/v1/admin/encryption/reseal', {})).json).toMatchObject({ resealed: 3, failed: 0 });
  const { rows } = await db.pool.query('SELECT sealed FROM document_rows');
  const opened = await createKeyRing([fresh]).open(rows[0].sealed, rowsContext(documentId));
  expect(opened.toString()).toBe('rows');
  const { rows: repairs } = await db.pool.query('SELECT sealed FROM document_repairs');
  expect((await createKeyRing([fresh]).open(repairs[0].sealed, repairContext(uuid))).toString()).toBe('reply');
  const after = await createTestApi(db, { cipher: createKeyRing([fresh]) }).caller('tenant_admin', { tenantId });
  expect((await after.get(`/v1/documents/${documentId}`)).json.file_name).toBe('private.txt');
});
