import type pg from 'pg';
import type { BatchAddress } from './document-batches.ts';
import { type JobScope, scopeCondition } from './job-scope.ts';

type Queryable = Pick<pg.ClientBase, 'query'>;

/** Whom to tell of the batches of a name, which need not exist. */
export interface DocumentWebhookRow extends BatchAddress {
  readonly webhookId: string;
  readonly tenantId: string;
  readonly projectId: string | null;
  readonly url: string;
  readonly secretId: string;
  readonly createdAt: Date;
}

const COLUMNS = `w.webhook_id AS "webhookId", w.tenant_id AS "tenantId", w.project_id AS "projectId", w.customer_id AS "customerId",
  w.batch_name AS name, w.url, w.secret_id AS "secretId", w.created_at AS "createdAt"`;

/** Null for a foreign one too. */
export async function findDocumentWebhook(
  db: Queryable,
  scope: JobScope,
  { name, customerId }: BatchAddress,
): Promise<DocumentWebhookRow | null> {
  const condition = scopeCondition(scope, 'w', 3);
  const { rows } = await db.query<DocumentWebhookRow>(
    `SELECT ${COLUMNS} FROM document_webhooks w
     WHERE w.batch_name = $1 AND coalesce(w.customer_id, '') = coalesce($2, '') AND ${condition.sql}`,
    [name, customerId, ...condition.values],
  );
  return rows[0] ?? null;
}

/** False where the name has one already. */
export async function insertDocumentWebhook(db: Queryable, row: DocumentWebhookRow): Promise<boolean> {
  const { rowCount } = await db.query(
    `INSERT INTO document_webhooks (webhook_id, tenant_id, project_id, customer_id, batch_name, url, secret_id, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING`,
    [row.webhookId, row.tenantId, row.projectId, row.customerId, row.name, row.url, row.secretId, row.createdAt],
  );
  return rowCount === 1;
}

/**
 * Removes the webhook that a project set for a name before it became that of a batch of somebody else: it is never called. Its
 * secret stays. Answers its id; null where there was none.
 */
export async function deleteStrayWebhook(
  db: Queryable,
  { tenantId, customerId, projectId, name }: Pick<DocumentWebhookRow, 'tenantId' | 'customerId' | 'projectId' | 'name'>,
): Promise<string | null> {
  const { rows } = await db.query<{ webhookId: string }>(
    `DELETE FROM document_webhooks
     WHERE tenant_id = $1 AND coalesce(customer_id, '') = coalesce($2, '') AND batch_name = $3 AND project_id IS DISTINCT FROM $4 AND project_id IS NOT NULL
     RETURNING webhook_id AS "webhookId"`,
    [tenantId, customerId, name, projectId],
  );
  return rows[0]?.webhookId ?? null;
}

/** False where it is gone. */
export async function changeDocumentWebhook(db: Queryable, webhookId: string, url: string): Promise<boolean> {
  const { rowCount } = await db.query('UPDATE document_webhooks SET url = $2 WHERE webhook_id = $1', [webhookId, url]);
  return rowCount === 1;
}

/** Its secret stays with what is on its way. */
export async function deleteDocumentWebhook(db: Queryable, webhookId: string): Promise<boolean> {
  const { rowCount } = await db.query('DELETE FROM document_webhooks WHERE webhook_id = $1', [webhookId]);
  return rowCount === 1;
}
