import type pg from 'pg';
import { type DataDeletion, ITS_DOCUMENTS } from './data-deletions.ts';
import { cancelQueuedOfCustomer } from './document-cancels.ts';
import { fromUuid, toUuid } from './ids.ts';
import { notHeld } from './legal-holds.ts';

type Queryable = Pick<pg.ClientBase, 'query'>;

/** A document whose content can be read no more, and whose file may still be in the store. */
export interface RemovedDocument {
  readonly documentId: string;
  readonly artifactKey: string;
}

/** SQL, for a document as d: nothing holds it, nor the run that it was in. */
const NOT_HELD = `${notHeld('d', { hasJob: false })} AND NOT EXISTS (
  SELECT FROM legal_holds h WHERE h.job_id = d.run_id AND h.lifted_at IS NULL)`;

/** Deletes the rows and the file names of documents whose time is up; none that is held. Returns of how many. */
export async function removeDueDocuments(db: Queryable, now: Date, limit: number): Promise<number> {
  const { rowCount } = await db.query(
    `WITH due AS (
       SELECT d.document_id FROM documents d
       WHERE d.content_due_at <= $1 AND d.content_deleted_at IS NULL AND d.completed_at IS NOT NULL AND ${NOT_HELD}
       ORDER BY d.content_due_at LIMIT $2 FOR UPDATE SKIP LOCKED
     ), gone AS (DELETE FROM document_rows WHERE document_id IN (SELECT document_id FROM due))
     UPDATE documents SET content_deleted_at = $1, file_name = NULL, sealed_file_name = NULL
     WHERE document_id IN (SELECT document_id FROM due)`,
    [now, limit],
  );
  return rowCount ?? 0;
}

/** What has become of the documents of a deletion, as it is now. */
export interface DeletedDocuments {
  /** File, rows and name are gone. */
  readonly deleted: number;
  readonly held: number;
  /** They are processed still, or on their way out. */
  readonly left: number;
}

/** What a deletion of a customer's data came to, of documents; a legal hold keeps the held ones. */
export async function countDeletedDocuments(
  db: Queryable,
  { tenantId, customerId, requestedAt }: Pick<DataDeletion, 'tenantId' | 'customerId' | 'requestedAt'>,
): Promise<DeletedDocuments> {
  const { rows } = await db.query<DeletedDocuments>(
    `WITH its AS (
       SELECT d.content_deleted_at IS NOT NULL AND d.artifact_key IS NULL AS is_gone,
         d.content_deleted_at IS NULL AND NOT (${NOT_HELD}) AS is_held
       FROM documents d WHERE ${ITS_DOCUMENTS}
     )
     SELECT count(*) FILTER (WHERE is_gone)::int AS deleted, count(*) FILTER (WHERE is_held)::int AS held,
       count(*) FILTER (WHERE NOT is_gone AND NOT is_held)::int AS left FROM its`,
    [tenantId, customerId, requestedAt],
  );
  if (rows[0] === undefined) throw new Error('a count gave no row');
  return rows[0];
}

/** In any order. */
export async function listRemovedDocuments(db: Queryable, limit: number): Promise<RemovedDocument[]> {
  const { rows } = await db.query<{ uuid: string; artifactKey: string }>(
    `SELECT document_id AS uuid, artifact_key AS "artifactKey" FROM documents
     WHERE content_deleted_at IS NOT NULL AND artifact_key IS NOT NULL ORDER BY random() LIMIT $1`,
    [limit],
  );
  return rows.map(({ uuid, artifactKey }) => ({ documentId: fromUuid('doc', uuid), artifactKey }));
}

/** Once its file is gone. */
export async function noteFileRemoved(db: Queryable, documentId: string): Promise<void> {
  await db.query('UPDATE documents SET artifact_key = NULL WHERE document_id = $1', [toUuid('doc', documentId)]);
}

/** Cancels what of a customer waits, and makes all of its documents that have ended due. */
export async function makeDocumentsDue(
  client: pg.PoolClient,
  deletion: Pick<DataDeletion, 'tenantId' | 'customerId' | 'requestedAt'>,
  now: Date,
): Promise<void> {
  await cancelQueuedOfCustomer(client, deletion, now);
  await client.query(
    `UPDATE documents d SET content_due_at = $4
     WHERE ${ITS_DOCUMENTS} AND d.completed_at IS NOT NULL AND d.content_deleted_at IS NULL
       AND (d.content_due_at IS NULL OR d.content_due_at > $4)`,
    [deletion.tenantId, deletion.customerId, deletion.requestedAt, now],
  );
}
