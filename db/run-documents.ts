import type pg from 'pg';
import type { DocumentState, DocumentType } from '../domain/document.ts';
import type { DocumentFacts } from '../domain/document-facts.ts';
import type { StoragePolicy } from '../domain/tenant-policy.ts';
import { contentDueSql } from './documents.ts';
import { fromUuid, toUuid } from './ids.ts';

type Queryable = Pick<pg.Pool, 'query'>;

/** A document as its run works with it. */
export interface RunDocument extends DocumentFacts {
  readonly uuid: string;
  /** The public id. */
  readonly documentId: string;
  readonly state: DocumentState;
  /** In the job of its run. */
  readonly itemNo: number;
  /** The number of the attempt under way, or of the last. */
  readonly attempts: number;
  readonly failures: number;
  readonly mediaType: DocumentType;
  readonly bytes: number;
  readonly sha256: Buffer;
  /** Null once its content is deleted. */
  readonly artifactKey: string | null;
  readonly storage: StoragePolicy;
}

const COLUMNS = `d.document_id AS uuid, d.state, d.item_no AS "itemNo", d.attempts, d.failures, d.media_type AS "mediaType",
  d.bytes::float8 AS bytes, d.sha256, d.pages, d.text_tokens AS "textTokens", d.width, d.height, d.storage,
  CASE WHEN d.content_deleted_at IS NULL THEN d.artifact_key END AS "artifactKey"`;

type Stored = Omit<RunDocument, 'documentId'>;

function toDocument(row: Stored): RunDocument {
  return { ...row, documentId: fromUuid('doc', row.uuid) };
}

/** SQL, for a document as d: its item in the run that it was in has an outcome. Of what failed before it was sent that comes later. */
const IS_SETTLED = `(d.started_at IS NOT NULL OR EXISTS (
  SELECT FROM item_outcomes o JOIN batch_jobs j USING (job_id, bucket) WHERE j.job_id = d.run_id AND o.item_no = d.item_no))`;

/**
 * Those of a batch that a new run takes, in the order of their upload: what is queued and in no run, and with `withFailed`
 * what failed, was settled, and still has its file. Locked; the batch must be locked before.
 */
export async function lockDocumentsToRun(
  client: Queryable,
  batchId: string,
  { withFailed, limit }: { readonly withFailed: boolean; readonly limit: number },
): Promise<RunDocument[]> {
  const { rows } = await client.query<Stored>(
    `SELECT ${COLUMNS} FROM documents d
     WHERE d.batch_id = $1 AND (d.state = 'queued' AND d.run_id IS NULL
       OR $2 AND d.state = 'failed' AND d.content_deleted_at IS NULL AND d.artifact_key IS NOT NULL AND ${IS_SETTLED})
     ORDER BY d.document_id LIMIT $3 FOR NO KEY UPDATE`,
    [batchId, withFailed, limit],
  );
  return rows.map(toDocument);
}

/**
 * Puts locked documents into a run, as its items from 1 on: what had failed is queued again. Attempts are counted on, so that a
 * worker of the run before that had been taken for dead is told from one of this run.
 */
export async function assignToRun(client: Queryable, runId: string, documents: readonly RunDocument[]): Promise<void> {
  const { rowCount } = await client.query(
    `UPDATE documents d SET state = 'queued', run_id = $1, item_no = a.item_no, failures = 0, next_attempt_at = NULL,
       leased_until = NULL, error_code = NULL, row_count = NULL, content_due_at = NULL, started_at = NULL, completed_at = NULL
     FROM unnest($2::uuid[]) WITH ORDINALITY AS a (document_id, item_no)
     WHERE d.document_id = a.document_id AND d.state IN ('queued', 'failed')`,
    [toUuid('documentRun', runId), documents.map(({ uuid }) => uuid)],
  );
  if (rowCount !== documents.length) throw new Error('a locked document is in another state than it was found in');
}

/** Whose items are sent each by itself: all of a run in direct mode; in batch mode those that are to be mended. */
const IS_DIRECT = `(r.mode = 'direct' OR EXISTS (SELECT FROM document_repairs p WHERE p.document_id = d.document_id AND p.item_no IS NOT NULL))`;
/** Its time has come and nobody is at it; $2 is now. */
const IS_DUE = `CASE WHEN d.state = 'queued' THEN r.mode = 'direct'
  ELSE ${IS_DIRECT} AND (d.leased_until <= $2 OR d.leased_until IS NULL AND coalesce(d.next_attempt_at <= $2, true)) END`;
const OPEN = `d.state IN ('queued', 'processing')`;

/** A document whose next attempt has just begun. */
export interface TakenDocument extends RunDocument {
  /** The worker that had begun the attempt before was lost; that is counted among the failures. */
  readonly wasLost: boolean;
}

/**
 * Begins the next attempt of a document of a run that is due, in one statement: of several workers each gets another. Null
 * where none is to be had.
 */
export async function takeDocument(
  db: Queryable,
  runUuid: string,
  { at, leasedUntil }: { readonly at: Date; readonly leasedUntil: Date },
): Promise<TakenDocument | null> {
  const { rows } = await db.query<Stored & { wasLost: boolean }>(
    `WITH due AS (
       SELECT d.document_id, d.leased_until IS NOT NULL AS was_lost FROM documents d JOIN document_runs r ON r.run_id = d.run_id
       WHERE d.run_id = $1 AND ${OPEN} AND ${IS_DUE} ORDER BY d.item_no LIMIT 1 FOR NO KEY UPDATE OF d SKIP LOCKED
     )
     UPDATE documents d SET state = 'processing', attempts = d.attempts + 1, failures = d.failures + due.was_lost::int,
       started_at = coalesce(d.started_at, greatest(d.created_at, $2::timestamptz)), leased_until = $3, next_attempt_at = NULL
     FROM due WHERE d.document_id = due.document_id
     RETURNING ${COLUMNS}, due.was_lost AS "wasLost"`,
    [runUuid, at, leasedUntil],
  );
  const [row] = rows;
  if (row === undefined) return null;
  const { wasLost, ...document } = row;
  return { ...toDocument(document), wasLost };
}

/** False where the attempt is not the one under way any more. */
export async function renewDocumentLease(
  db: Queryable,
  { uuid, attempts }: Pick<RunDocument, 'uuid' | 'attempts'>,
  leasedUntil: Date,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `UPDATE documents SET leased_until = $3 WHERE document_id = $1 AND state = 'processing' AND attempts = $2 AND leased_until IS NOT NULL`,
    [uuid, attempts, leasedUntil],
  );
  return rowCount === 1;
}

/** Locks the document if the attempt is still the one under way. After the row of its job. */
export async function lockAttempted(
  client: Queryable,
  { uuid, attempts }: Pick<RunDocument, 'uuid' | 'attempts'>,
): Promise<boolean> {
  const { rowCount } = await client.query(
    `SELECT 1 FROM documents WHERE document_id = $1 AND state = 'processing' AND attempts = $2 FOR NO KEY UPDATE`,
    [uuid, attempts],
  );
  return rowCount === 1;
}

/** The attempt is over and another comes; the document stays as it is. Its row must be locked. */
export async function awaitNextAttempt(
  client: Queryable,
  { uuid }: Pick<RunDocument, 'uuid'>,
  { at, hasFailed }: { readonly at: Date; readonly hasFailed: boolean },
): Promise<void> {
  await client.query(
    'UPDATE documents SET leased_until = NULL, next_attempt_at = $2, failures = failures + $3 WHERE document_id = $1',
    [uuid, at, hasFailed ? 1 : 0],
  );
}

/** How a document ends. */
export type DocumentEnd =
  | { readonly state: 'succeeded'; readonly rowCount: number; readonly rows: EndedRows }
  | { readonly state: 'failed'; readonly code: string };

/** JSON text of both lists, or both of them sealed. */
export type EndedRows =
  | { readonly lineItems: string; readonly provenance: string; readonly sealed: null }
  | { readonly lineItems: null; readonly provenance: null; readonly sealed: Buffer };

/** Ends documents that are being processed, with their rows; others are left as they are. Answers how many. */
export async function endProcessing(
  client: Queryable,
  ends: readonly (DocumentEnd & { readonly uuid: string })[],
  at: Date,
): Promise<number> {
  const { rows: moved } = await client.query<{ uuid: string }>(
    `UPDATE documents d SET state = e.state, error_code = e.code, row_count = e.row_count, leased_until = NULL, next_attempt_at = NULL,
       completed_at = greatest(d.started_at, $1::timestamptz), content_due_at = ${contentDueSql('greatest(d.started_at, $1)')}
     FROM unnest($2::uuid[], $3::text[], $4::text[], $5::int[]) AS e (document_id, state, code, row_count)
     WHERE d.document_id = e.document_id AND d.state = 'processing' RETURNING d.document_id AS uuid`,
    [
      at,
      ends.map(({ uuid }) => uuid),
      ends.map(({ state }) => state),
      ends.map((end) => (end.state === 'failed' ? end.code : null)),
      ends.map((end) => (end.state === 'failed' ? null : end.rowCount)),
    ],
  );
  const ended = new Set(moved.map(({ uuid }) => uuid));
  for (const end of ends) {
    if (!ended.has(end.uuid) || end.state === 'failed') continue;
    const { lineItems, provenance, sealed } = end.rows;
    await client.query(
      `INSERT INTO document_rows (document_id, line_items, provenance, sealed) VALUES ($1, $2, $3, $4)
       ON CONFLICT (document_id) DO UPDATE SET line_items = excluded.line_items, provenance = excluded.provenance, sealed = excluded.sealed`,
      [end.uuid, lineItems, provenance, sealed],
    );
  }
  await client.query('DELETE FROM document_repairs WHERE document_id = ANY($1)', [[...ended]]);
  return ended.size;
}

/** By their items, of a run; those that are not there are left out. */
export async function listByItems(db: Queryable, runUuid: string, itemNos: readonly number[]): Promise<RunDocument[]> {
  const { rows } = await db.query<Stored>(
    `SELECT ${COLUMNS} FROM documents d WHERE d.run_id = $1 AND d.item_no = ANY($2::int[]) ORDER BY d.item_no`,
    [runUuid, itemNos],
  );
  return rows.map(toDocument);
}

/** The next items of a run after one, in their order. */
export async function listAfterItem(
  db: Queryable,
  runUuid: string,
  after: number,
  limit: number,
): Promise<RunDocument[]> {
  const { rows } = await db.query<Stored>(
    `SELECT ${COLUMNS} FROM documents d WHERE d.run_id = $1 AND d.item_no > $2 ORDER BY d.item_no LIMIT $3`,
    [runUuid, after, limit],
  );
  return rows.map(toDocument);
}

/** What of a run is still open, by rows. */
export interface OpenDocuments {
  readonly open: number;
  /** Whose attempt may begin now. */
  readonly due: number;
  /** Of those that wait for their next attempt, or for a worker that may be lost, the first that will be due; null for none. */
  readonly nextAt: Date | null;
  /** The same without those that somebody is at. */
  readonly nextAttemptAt: Date | null;
}

/** All zero for a run without documents. */
export async function readOpenDocuments(db: Queryable, runUuid: string, now: Date): Promise<OpenDocuments> {
  const { rows } = await db.query<OpenDocuments>(
    `SELECT count(*)::int AS open, count(*) FILTER (WHERE ${IS_DUE})::int AS due,
       min(coalesce(d.leased_until, d.next_attempt_at)) FILTER (WHERE ${IS_DIRECT}) AS "nextAt",
       min(d.next_attempt_at) FILTER (WHERE d.leased_until IS NULL AND ${IS_DIRECT}) AS "nextAttemptAt"
     FROM documents d JOIN document_runs r ON r.run_id = d.run_id WHERE d.run_id = $1 AND ${OPEN}`,
    [runUuid, now],
  );
  return rows[0] ?? { open: 0, due: 0, nextAt: null, nextAttemptAt: null };
}

/** Of a shard whose batch a provider has accepted. The job's row must be locked. */
export async function beginShardDocuments(
  client: Queryable,
  runUuid: string,
  { firstItemNo, lastItemNo }: { readonly firstItemNo: number; readonly lastItemNo: number },
  at: Date,
): Promise<void> {
  await client.query(
    `UPDATE documents SET state = 'processing', started_at = greatest(created_at, $4::timestamptz), attempts = attempts + 1
     WHERE run_id = $1 AND item_no BETWEEN $2 AND $3 AND state = 'queued'`,
    [runUuid, firstItemNo, lastItemNo, at],
  );
}

/** When the first of the run was taken up; null for never. */
export async function readRunStart(db: Queryable, runUuid: string): Promise<Date | null> {
  const { rows } = await db.query<{ at: Date | null }>(
    'SELECT min(started_at) AS at FROM documents WHERE run_id = $1',
    [runUuid],
  );
  return rows[0]?.at ?? null;
}

/** No request can be made of it: it fails without having been taken up. False where it is not queued any more. */
export async function failQueued(
  client: Queryable,
  { uuid }: Pick<RunDocument, 'uuid'>,
  code: string,
  at: Date,
): Promise<boolean> {
  const { rowCount } = await client.query(
    `UPDATE documents d SET state = 'failed', error_code = $2, completed_at = greatest(d.created_at, $3::timestamptz),
       content_due_at = ${contentDueSql('greatest(d.created_at, $3)')}
     WHERE d.document_id = $1 AND d.state = 'queued'`,
    [uuid, code, at],
  );
  return rowCount === 1;
}
