import type { Database } from '../../../db/client.ts';
import { newId, toUuid } from '../../../db/ids.ts';

/** A batch of a project and a customer, with one document that was processed, and another file on its way. */
export async function insertDocuments(
  db: Database,
  { tenantId, projectId, customerId, keyId }: Record<'tenantId' | 'projectId' | 'customerId' | 'keyId', string>,
  name: string,
): Promise<{ readonly documentId: string; readonly batchName: string }> {
  const owner = [tenantId, projectId, customerId];
  const [batchId, batchName, run] = [
    newId('documentBatch'),
    `batch-of-${name}`,
    toUuid('documentRun', newId('documentRun')),
  ];
  const documentId = newId('doc');
  const uuid = toUuid('doc', documentId);
  await db.pool.query(
    'INSERT INTO document_batches (batch_id, tenant_id, project_id, customer_id, name, created_at) VALUES ($1, $2, $3, $4, $5, now())',
    [batchId, ...owner, batchName],
  );
  await db.pool.query(
    `INSERT INTO document_runs (run_id, batch_id, tenant_id, project_id, customer_id, mode, columns, model, documents, state, created_at)
     VALUES ($1, $2, $3, $4, $5, 'direct', '[]', 'a', 1, 'finished', now())`,
    [run, batchId, ...owner],
  );
  await db.pool.query(
    `INSERT INTO documents (document_id, tenant_id, project_id, customer_id, batch_id, api_key_id, file_name, media_type, bytes, sha256,
       artifact_key, state, run_id, item_no, storage, created_at, started_at, completed_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, 'text/plain', 1, '', $8, 'succeeded', $9, 1, 'raw', now(), now(), now())`,
    [uuid, ...owner, batchId, keyId, `file-of-${name}`, `documents/${documentId}`, run],
  );
  await db.pool.query('INSERT INTO document_rows (document_id, line_items, provenance) VALUES ($1, $2, $3)', [
    uuid,
    JSON.stringify([{ total: `reply-of-${name}` }]),
    '[]',
  ]);
  const other = newId('doc');
  await db.pool.query(
    'INSERT INTO document_uploads (document_id, tenant_id, artifact_key, created_at) VALUES ($1, $2, $3, now())',
    [toUuid('doc', other), tenantId, `documents/${other}`],
  );
  return { documentId, batchName };
}
