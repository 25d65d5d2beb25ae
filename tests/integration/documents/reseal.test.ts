import { randomBytes } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import { rowsContext } from '../../../db/document-view.ts';
import { newId, toUuid } from '../../../db/ids.ts';
import { createKeyRing, KEY_BYTES } from '../../../encryption/key-ring.ts';
import { createTestApi } from '../../harness/api.ts';
import { createTestDatabase } from '../../harness/postgres.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);

test('sealed rows of documents are sealed anew when the key of the gateway changes', async () => {
  const key = (id: string) => ({ id, key: randomBytes(KEY_BYTES) });
  const [old, fresh] = [key('old'), key('fresh')];
  const documentId = newId('doc');
  await db.pool.query('INSERT INTO document_rows (document_id, sealed) VALUES ($1, $2)', [
    toUuid('doc', documentId),
    await createKeyRing([old]).seal(Buffer.from('rows'), rowsContext(documentId)),
  ]);
  const admin = await createTestApi(db, { cipher: createKeyRing([fresh, old]) }).caller('gateway_admin');
  expect((await admin.post('/v1/admin/encryption/reseal', {})).json).toMatchObject({ resealed: 1, failed: 0 });
  const { rows } = await db.pool.query('SELECT sealed FROM document_rows');
  const opened = await createKeyRing([fresh]).open(rows[0].sealed, rowsContext(documentId));
  expect(opened.toString()).toBe('rows');
});
