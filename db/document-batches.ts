import type pg from 'pg';
import type { DocumentColumn, DocumentCounts } from '../domain/document.ts';
import { newId } from './ids.ts';
import { type JobScope, scopeCondition } from './job-scope.ts';

type Queryable = Pick<pg.ClientBase, 'query'>;

/** Which batch of an account is meant: a name is one batch of the tenant, or of one of its customers. */
export interface BatchAddress {
  readonly name: string;
  /** Null for the tenant's own. */
  readonly customerId: string | null;
}

export interface DocumentBatchRow {
  readonly batchId: string;
  readonly tenantId: string;
  readonly projectId: string | null;
  readonly customerId: string | null;
  readonly name: string;
  readonly deletedAt: Date | null;
}

/** A batch with what its documents make of it. It has at least one. */
export interface DocumentBatchView extends DocumentBatchRow {
  readonly counts: DocumentCounts;
  /** The earliest upload. */
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  /** The latest end; null until every document has one. */
  readonly completedAt: Date | null;
  /** Of the last run; null before the first. */
  readonly columns: readonly DocumentColumn[] | null;
  readonly model: string | null;
}

const COLUMNS = `b.batch_id AS "batchId", b.tenant_id AS "tenantId", b.project_id AS "projectId", b.customer_id AS "customerId", b.name,
  b.deleted_at AS "deletedAt"`;

/**
 * The batch of a name, locked until the transaction ends; made where there is none. Before its documents, in every transaction
 * that changes both. Null where the name is that of a batch of another project.
 */
export async function lockOrInsertBatch(
  client: pg.PoolClient,
  owner: JobScope,
  { name, createdAt }: { readonly name: string; readonly createdAt: Date },
): Promise<DocumentBatchRow | null> {
  const address = { name, customerId: owner.customerId };
  for (;;) {
    await client.query(
      `INSERT INTO document_batches (batch_id, tenant_id, project_id, customer_id, name, created_at) VALUES ($1, $2, $3, $4, $5, $6)
       ON CONFLICT (tenant_id, coalesce(customer_id, ''), name) WHERE deleted_at IS NULL DO NOTHING`,
      [newId('documentBatch'), owner.tenantId, owner.projectId, owner.customerId, name, createdAt],
    );
    const batch = await lockLiveBatch(client, owner.tenantId, address);
    // None where somebody has just deleted the one there was: its name is free again.
    if (batch === null) continue;
    return owner.projectId === null || batch.projectId === owner.projectId ? batch : null;
  }
}

/** The batch that a name means now: the one that takes uploads, else the last that was deleted. Null for a foreign one too. */
export async function findBatch(
  db: Queryable,
  scope: JobScope,
  address: BatchAddress,
  { lock = false }: { readonly lock?: boolean } = {},
): Promise<DocumentBatchRow | null> {
  const condition = scopeCondition(scope, 'b', 3);
  const { rows } = await db.query<DocumentBatchRow>(
    `SELECT ${COLUMNS} FROM document_batches b
     WHERE b.name = $1 AND coalesce(b.customer_id, '') = coalesce($2, '') AND ${condition.sql}
     ORDER BY b.deleted_at IS NULL DESC, b.batch_id DESC LIMIT 1 ${lock ? 'FOR NO KEY UPDATE' : ''}`,
    [address.name, address.customerId, ...condition.values],
  );
  return rows[0] ?? null;
}

/** The batch that takes uploads under a name, whichever project's it is; locked until the transaction ends. Null for none. */
export async function lockLiveBatch(
  client: Queryable,
  tenantId: string,
  { name, customerId }: BatchAddress,
): Promise<DocumentBatchRow | null> {
  const { rows } = await client.query<DocumentBatchRow>(
    `SELECT ${COLUMNS} FROM document_batches b
     WHERE b.tenant_id = $1 AND coalesce(b.customer_id, '') = coalesce($2, '') AND b.name = $3 AND b.deleted_at IS NULL FOR NO KEY UPDATE`,
    [tenantId, customerId, name],
  );
  return rows[0] ?? null;
}

const SELECT_VIEW = `${COLUMNS}, b.columns, b.model, s."createdAt", s."startedAt", s."completedAt", s.counts`;
const SUMS = `(SELECT min(d.created_at) AS "createdAt", min(d.started_at) AS "startedAt",
    CASE WHEN bool_and(d.completed_at IS NOT NULL) THEN max(d.completed_at) END AS "completedAt",
    json_build_object('queued', count(*) FILTER (WHERE d.state = 'queued'), 'processing', count(*) FILTER (WHERE d.state = 'processing'),
      'succeeded', count(*) FILTER (WHERE d.state = 'succeeded'), 'failed', count(*) FILTER (WHERE d.state = 'failed'),
      'canceled', count(*) FILTER (WHERE d.state = 'canceled')) AS counts
  FROM documents d WHERE d.batch_id = b.batch_id) s`;

/** Throws for an unknown id: batches stay. */
export async function getBatchView(db: Queryable, batchId: string): Promise<DocumentBatchView> {
  const { rows } = await db.query<DocumentBatchView>(
    `SELECT ${SELECT_VIEW} FROM document_batches b, LATERAL ${SUMS} WHERE b.batch_id = $1`,
    [batchId],
  );
  if (rows[0] === undefined) throw new Error(`no batch ${batchId}`);
  return rows[0];
}

/** Newest first, those before one; deleted ones too. */
export async function listBatches(
  db: Queryable,
  scope: JobScope,
  page: { readonly before: string | null; readonly limit: number },
): Promise<DocumentBatchView[]> {
  const condition = scopeCondition(scope, 'b', 3);
  const { rows } = await db.query<DocumentBatchView>(
    `WITH page AS (
       SELECT * FROM document_batches b WHERE ($1::text IS NULL OR b.batch_id < $1) AND ${condition.sql}
       ORDER BY b.batch_id DESC LIMIT $2)
     SELECT ${SELECT_VIEW} FROM page b, LATERAL ${SUMS} ORDER BY b.batch_id DESC`,
    [page.before, page.limit, ...condition.values],
  );
  return rows;
}

/** Frees the name. Its row must be locked. */
export async function markBatchDeleted(client: Queryable, batchId: string, now: Date): Promise<void> {
  await client.query('UPDATE document_batches SET deleted_at = $2 WHERE batch_id = $1 AND deleted_at IS NULL', [
    batchId,
    now,
  ]);
}
