import type pg from 'pg';
import { fromUuid, toUuid } from './ids.ts';

type Queryable = Pick<pg.ClientBase, 'query'>;

/** A file on its way into the artifact store. Its document gets an id of its own once the file is there. */
export interface DocumentUpload {
  readonly uploadId: string;
  readonly tenantId: string;
  readonly artifactKey: string;
}

/** Where the file of an upload is in the artifact store, from then on as that of a document. */
export function uploadArtifactKey(uploadId: string): string {
  return `documents/${uploadId}`;
}

/** Notes that a file is about to be put into the store. Committed before it is. */
export async function insertUpload(
  db: Queryable,
  { uploadId, tenantId }: Pick<DocumentUpload, 'uploadId' | 'tenantId'>,
  now: Date,
): Promise<void> {
  // The column is from when a document had the id of its upload.
  await db.query(
    'INSERT INTO document_uploads (document_id, tenant_id, artifact_key, created_at) VALUES ($1, $2, $3, $4)',
    [toUuid('documentUpload', uploadId), tenantId, uploadArtifactKey(uploadId), now],
  );
}

/** In the transaction that makes a document of it. False where the sweep has taken it away. */
export async function endUpload(db: Queryable, uploadId: string): Promise<boolean> {
  const { rowCount } = await db.query('DELETE FROM document_uploads WHERE document_id = $1 AND taken_at IS NULL', [
    toUuid('documentUpload', uploadId),
  ]);
  return rowCount === 1;
}

/** Once its file is gone. */
export async function forgetUpload(db: Queryable, uploadId: string): Promise<void> {
  await db.query('DELETE FROM document_uploads WHERE document_id = $1', [toUuid('documentUpload', uploadId)]);
}

/** Takes away those that were begun before the given time, and gives them out until they are forgotten. */
export async function takeStrayUploads(
  db: Queryable,
  { before, now, limit }: { readonly before: Date; readonly now: Date; readonly limit: number },
): Promise<DocumentUpload[]> {
  const { rows } = await db.query<Omit<DocumentUpload, 'uploadId'> & { uuid: string }>(
    `UPDATE document_uploads SET taken_at = $2
     WHERE document_id IN (SELECT document_id FROM document_uploads WHERE created_at < $1 ORDER BY created_at LIMIT $3 FOR UPDATE SKIP LOCKED)
     RETURNING document_id AS uuid, tenant_id AS "tenantId", artifact_key AS "artifactKey"`,
    [before, now, limit],
  );
  return rows.map(({ uuid, ...row }) => ({ ...row, uploadId: fromUuid('documentUpload', uuid) }));
}
