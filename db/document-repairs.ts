import type pg from 'pg';
import type { Usage } from '../domain/usage.ts';
import { fromUuid, toUuid } from './ids.ts';
import type { RunDocument } from './run-documents.ts';

type Queryable = Pick<pg.Pool, 'query'>;

/** A reply that did not fit, and is to be mended. */
export interface DocumentRepair {
  /** Of `{"reply": …, "problems": […]}`, for `repairContext`. */
  readonly sealed: Buffer;
  /** Of the request that gave it, where its item settles it together with the repair; null where that is settled already. */
  readonly usage: Usage | null;
  /** In the job of the repairs; null in direct mode, and while there is no such job. */
  readonly itemNo: number | null;
}

/** What such a reply is sealed for. */
export function repairContext(uuid: string): string {
  return `document_repairs/${uuid}`;
}

/** Of documents that are being processed; of each the first such answer stands. */
export async function insertRepairs(
  client: Queryable,
  runUuid: string,
  repairs: readonly (Omit<DocumentRepair, 'itemNo'> & { readonly uuid: string })[],
): Promise<void> {
  for (const { uuid, sealed, usage } of repairs) {
    await client.query(
      `INSERT INTO document_repairs (document_id, run_id, sealed, usage) SELECT document_id, run_id, $3, $4 FROM documents
       WHERE document_id = $1 AND run_id = $2 AND state = 'processing' ON CONFLICT DO NOTHING`,
      [uuid, runUuid, sealed, usage === null ? null : JSON.stringify(usage)],
    );
  }
}

export async function findRepair(db: Queryable, { uuid }: Pick<RunDocument, 'uuid'>): Promise<DocumentRepair | null> {
  const { rows } = await db.query<DocumentRepair>(
    'SELECT sealed, usage, item_no AS "itemNo" FROM document_repairs WHERE document_id = $1',
    [uuid],
  );
  return rows[0] ?? null;
}

/** Of a run in batch mode: documents whose repair is in no job yet, with how many bytes the reply has. */
export async function listUnplannedRepairs(
  db: Queryable,
  runUuid: string,
): Promise<ReadonlyMap<string, { readonly itemNo: number; readonly sealedBytes: number }>> {
  const { rows } = await db.query<{ uuid: string; itemNo: number; sealedBytes: number }>(
    `SELECT d.document_id AS uuid, d.item_no AS "itemNo", octet_length(p.sealed) AS "sealedBytes"
     FROM document_repairs p JOIN documents d ON d.document_id = p.document_id AND d.run_id = p.run_id
     WHERE p.run_id = $1 AND p.item_no IS NULL AND d.state = 'processing' ORDER BY d.item_no`,
    [runUuid],
  );
  return new Map(rows.map(({ uuid, ...row }) => [fromUuid('doc', uuid), row]));
}

/** As the items of their job from 1 on. */
export async function numberRepairs(client: Queryable, documentIds: readonly string[]): Promise<void> {
  await client.query(
    `UPDATE document_repairs p SET item_no = n.item_no FROM unnest($1::uuid[]) WITH ORDINALITY AS n (document_id, item_no)
     WHERE p.document_id = n.document_id`,
    [documentIds.map((documentId) => toUuid('doc', documentId))],
  );
}
