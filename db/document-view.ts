import type pg from 'pg';
import type { DocumentState, DocumentType } from '../domain/document.ts';
import { fromUuid, toUuid } from './ids.ts';
import { type JobScope, scopeCondition } from './job-scope.ts';

type Queryable = Pick<pg.ClientBase, 'query'>;

/** A document as it is shown, its rows still as they are stored. */
export interface DocumentView {
  readonly documentId: string;
  readonly batchId: string;
  readonly batchName: string;
  readonly customerId: string | null;
  readonly projectId: string | null;
  /** Null where it has none, or has one that is sealed. */
  readonly fileName: string | null;
  /** For `fileNameContext`. */
  readonly sealedFileName: Buffer | null;
  readonly mediaType: DocumentType;
  readonly bytes: number;
  readonly sha256: Buffer;
  readonly pages: number | null;
  readonly duplicateOf: string | null;
  readonly state: DocumentState;
  readonly runId: string | null;
  readonly errorCode: string | null;
  readonly rowCount: number | null;
  readonly contentDeletedAt: Date | null;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly completedAt: Date | null;
  readonly content: StoredRows;
}

/** JSON text of arrays, or both of them sealed; all null where there is none, or not any more. */
export interface StoredRows {
  readonly lineItems: string | null;
  readonly provenance: string | null;
  /** Of `{"line_items": […], "provenance": […]}`, for `rowsContext`. */
  readonly sealed: Buffer | null;
}

/** What the rows of a document are sealed for. */
export function rowsContext(documentId: string): string {
  return `document_rows/${toUuid('doc', documentId)}`;
}

const COLUMNS = `d.document_id AS uuid, d.batch_id AS "batchId", b.name AS "batchName", d.customer_id AS "customerId",
  d.project_id AS "projectId", d.file_name AS "fileName", d.sealed_file_name AS "sealedFileName", d.media_type AS "mediaType", d.bytes::float8 AS bytes, d.sha256, d.pages,
  d.duplicate_of AS "duplicateUuid", d.state, d.run_id AS "runUuid", d.error_code AS "errorCode", d.row_count AS "rowCount",
  d.content_deleted_at AS "contentDeletedAt", d.created_at AS "createdAt", d.started_at AS "startedAt", d.completed_at AS "completedAt",
  r.line_items AS "lineItems", r.provenance, r.sealed`;
const JOINS = `JOIN document_batches b ON b.batch_id = d.batch_id
  LEFT JOIN document_rows r ON r.document_id = d.document_id AND d.state = 'succeeded' AND d.content_deleted_at IS NULL`;
const CONTENT_BYTES = `coalesce(octet_length(r.line_items), 0) + coalesce(octet_length(r.provenance), 0) + coalesce(octet_length(r.sealed), 0)`;

/** Null for an unknown, malformed or foreign id alike. */
export async function findDocumentView(
  db: Queryable,
  scope: JobScope,
  documentId: string,
): Promise<DocumentView | null> {
  const uuid = toUuid('doc', documentId);
  if (uuid === null) return null;
  const condition = scopeCondition(scope, 'd', 2);
  const { rows } = await db.query<StoredView>(
    `SELECT ${COLUMNS} FROM documents d ${JOINS} WHERE d.document_id = $1 AND ${condition.sql}`,
    [uuid, ...condition.values],
  );
  return rows[0] === undefined ? null : toView(rows[0]);
}

export interface DocumentFilter {
  /** Undefined for those of all batches. */
  readonly batchId?: string | undefined;
  readonly state?: DocumentState | undefined;
}

/** In the order of their upload, those after one: at most so many, and no more once their rows have so many bytes. */
export async function listDocumentViews(
  db: Queryable,
  scope: JobScope,
  { batchId, state }: DocumentFilter,
  page: { readonly after: string | null; readonly maxRows: number; readonly maxBytes: number },
): Promise<{ readonly rows: readonly DocumentView[]; readonly isComplete: boolean }> {
  const condition = scopeCondition(scope, 'd', 6);
  const { rows } = await db.query<StoredView & { found: number }>(
    `WITH found AS (
       SELECT * FROM documents d
       WHERE ($1::text IS NULL OR d.batch_id = $1) AND ($2::text IS NULL OR d.state = $2)
         AND ($3::uuid IS NULL OR d.document_id > $3) AND ${condition.sql}
       ORDER BY d.document_id LIMIT $4
     ), sized AS (
       SELECT ${COLUMNS}, count(*) OVER ()::int AS found,
         sum(${CONTENT_BYTES}) OVER (ORDER BY d.document_id) - (${CONTENT_BYTES}) AS before
       FROM found d ${JOINS}
     )
     SELECT * FROM sized WHERE before <= $5 ORDER BY uuid`,
    [batchId ?? null, state ?? null, uuidOf(page.after), page.maxRows + 1, page.maxBytes, ...condition.values],
  );
  const views = rows.slice(0, page.maxRows).map(toView);
  return { rows: views, isComplete: views.length === (rows[0]?.found ?? 0) };
}

function uuidOf(documentId: string | null): string | null {
  return documentId === null ? null : toUuid('doc', documentId);
}

type Stored = Omit<DocumentView, 'documentId' | 'duplicateOf' | 'runId' | 'content'> & StoredRows;
interface StoredView extends Stored {
  readonly uuid: string;
  readonly duplicateUuid: string | null;
  readonly runUuid: string | null;
}

function toView({ uuid, duplicateUuid, runUuid, lineItems, provenance, sealed, ...row }: StoredView): DocumentView {
  return {
    ...row,
    documentId: fromUuid('doc', uuid),
    duplicateOf: duplicateUuid === null ? null : fromUuid('doc', duplicateUuid),
    runId: runUuid === null ? null : fromUuid('documentRun', runUuid),
    content: { lineItems, provenance, sealed },
  };
}
