import type pg from 'pg';
import { fromUuid, toUuid } from './ids.ts';

type Queryable = Pick<pg.ClientBase, 'query'>;

/** A file on its way into the artifact store. */
export interface DocumentUpload {
  readonly documentId: string;
  readonly tenantId: string;
  readonly artifactKey: string;
}

/** Notes that a file is about to be put into the store. Committed before it is. */
export async function insertUpload(db: Queryable, upload: DocumentUpload, now: Date): Promise<void> {
  await db.query(
    'INSERT INTO document_uploads (document_id, tenant_id, artifact_key, created_at) VALUES ($1, $2, $3, $4)',
    [toUuid('doc', upload.documentId), upload.tenantId, upload.artifactKey, now],
  );
}

/** In the transaction that makes a document of it. False where the sweep has taken it away. */
export async function endUpload(db: Queryable, documentId: string): Promise<boolean> {
  const { rowCount } = await db.query('DELETE FROM document_uploads WHERE document_id = $1 AND taken_at IS NULL', [
    toUuid('doc', documentId),
  ]);
  return rowCount === 1;
}

/** Once its file is gone. */
export async function forgetUpload(db: Queryable, documentId: string): Promise<void> {
  await db.query('DELETE FROM document_uploads WHERE document_id = $1', [toUuid('doc', documentId)]);
}

/** Takes away those that were begun before the given time, and gives them out until they are forgotten. */
export async function takeStrayUploads(
  db: Queryable,
  { before, now, limit }: { readonly before: Date; readonly now: Date; readonly limit: number },
): Promise<DocumentUpload[]> {
  const { rows } = await db.query<Omit<DocumentUpload, 'documentId'> & { uuid: string }>(
    `UPDATE document_uploads SET taken_at = $2
     WHERE document_id IN (SELECT document_id FROM document_uploads WHERE created_at < $1 ORDER BY created_at LIMIT $3 FOR UPDATE SKIP LOCKED)
     RETURNING document_id AS uuid, tenant_id AS "tenantId", artifact_key AS "artifactKey"`,
    [before, now, limit],
  );
  return rows.map(({ uuid, ...row }) => ({ ...row, documentId: fromUuid('doc', uuid) }));
}
