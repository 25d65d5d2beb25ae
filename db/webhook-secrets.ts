import type pg from 'pg';
import type { JobScope } from './job-scope.ts';

type Queryable = Pick<pg.ClientBase, 'query'>;

/** What calls are signed with, sealed. */
export interface SecretRow {
  readonly secretId: string;
  readonly sealed: Buffer;
  readonly createdAt: Date;
  readonly rotatedAt: Date | null;
  /** Until then the secret before it signs too. */
  readonly previousUntil: Date | null;
}

export interface NewSecret {
  readonly secretId: string;
  readonly sealed: Buffer;
  readonly createdAt: Date;
  /** Null for the secret of the webhooks that jobs bring along, and for that of the webhook of documents. */
  readonly endpointId: string | null;
  readonly documentWebhookId?: string;
}

const COLUMNS = `secret_id AS "secretId", sealed, created_at AS "createdAt", rotated_at AS "rotatedAt", previous_until AS "previousUntil"`;

/** What a secret is sealed for: it opens for its own row alone. */
export function secretContext(secretId: string): string {
  return `webhook_secrets/${secretId}`;
}

/** False where its holder has one already. */
export async function insertSecret(db: Queryable, holder: JobScope, secret: NewSecret): Promise<boolean> {
  const { rowCount } = await db.query(
    `INSERT INTO webhook_secrets (secret_id, tenant_id, project_id, customer_id, endpoint_id, document_webhook_id, sealed, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING`,
    [
      secret.secretId,
      holder.tenantId,
      holder.projectId,
      holder.customerId,
      secret.endpointId,
      secret.documentWebhookId ?? null,
      secret.sealed,
      secret.createdAt,
    ],
  );
  return rowCount === 1;
}

/** Locked until the transaction ends. */
export async function lockEndpointSecret(db: Queryable, endpointId: string): Promise<SecretRow | null> {
  const { rows } = await db.query<SecretRow>(
    `SELECT ${COLUMNS} FROM webhook_secrets WHERE endpoint_id = $1 FOR NO KEY UPDATE`,
    [endpointId],
  );
  return rows[0] ?? null;
}

/** Of the keys of exactly this scope. Null before it was first made. */
export async function findJobSecret(
  db: Queryable,
  holder: JobScope,
  { lock = false }: { readonly lock?: boolean } = {},
): Promise<SecretRow | null> {
  const { rows } = await db.query<SecretRow>(
    `SELECT ${COLUMNS} FROM webhook_secrets
     WHERE tenant_id = $1 AND project_id IS NOT DISTINCT FROM $2 AND customer_id IS NOT DISTINCT FROM $3
       AND endpoint_id IS NULL AND document_webhook_id IS NULL ${lock ? 'FOR NO KEY UPDATE' : ''}`,
    [holder.tenantId, holder.projectId, holder.customerId],
  );
  return rows[0] ?? null;
}

/** The secret there was signs too until the given time. Its row must be locked. */
export async function replaceSecret(
  db: Queryable,
  { secretId }: Pick<SecretRow, 'secretId'>,
  { sealed, previousUntil, now }: { readonly sealed: Buffer; readonly previousUntil: Date; readonly now: Date },
): Promise<void> {
  await db.query(
    `UPDATE webhook_secrets SET previous_sealed = sealed, previous_until = $3, sealed = $2, rotated_at = $4 WHERE secret_id = $1`,
    [secretId, sealed, previousUntil, now],
  );
}

/** Has a job told of where another one is, if it is anywhere. */
export async function copyJobWebhook(
  db: Queryable,
  fromJobId: string,
  job: { readonly jobId: string; readonly createdAt: Date },
): Promise<void> {
  await db.query(
    `INSERT INTO direct_webhooks (subject_id, tenant_id, url, event_types, secret_id, created_at)
     SELECT $2, tenant_id, url, event_types, secret_id, $3 FROM direct_webhooks WHERE subject_id = $1`,
    [fromJobId, job.jobId, job.createdAt],
  );
}

/** Of a draft that vanishes. */
export async function deleteJobWebhook(db: Queryable, jobId: string): Promise<void> {
  await db.query('DELETE FROM direct_webhooks WHERE subject_id = $1', [jobId]);
}

/**
 * Has a job's events told to a URL. They are signed with the secret of the key that made the job; false where that has none
 * yet.
 */
export async function insertJobWebhook(
  db: Queryable,
  job: { readonly jobId: string; readonly apiKeyId: string; readonly createdAt: Date },
  webhook: { readonly url: string; readonly eventTypes: readonly string[] | null },
): Promise<boolean> {
  const { rowCount } = await db.query(
    `INSERT INTO direct_webhooks (subject_id, tenant_id, url, event_types, secret_id, created_at)
     SELECT $1, s.tenant_id, $3, $4, s.secret_id, $5
     FROM api_keys k
     JOIN webhook_secrets s ON s.tenant_id = k.tenant_id AND s.endpoint_id IS NULL AND s.document_webhook_id IS NULL
       AND s.project_id IS NOT DISTINCT FROM k.project_id AND s.customer_id IS NOT DISTINCT FROM k.customer_id
     WHERE k.key_id = $2`,
    [job.jobId, job.apiKeyId, webhook.url, webhook.eventTypes, job.createdAt],
  );
  return rowCount === 1;
}
