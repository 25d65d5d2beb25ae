import type pg from 'pg';
import type { Role } from '../domain/principal.ts';
import type { Provider } from '../domain/provider.ts';

type Queryable = Pick<pg.ClientBase, 'query'>;

/** A key as admins see it: never the secret, nor its hash. */
export interface KeyRecord {
  readonly keyId: string;
  readonly role: Role;
  readonly name: string;
  readonly projectId: string | null;
  readonly customerId: string | null;
  /** The secret's beginning, by which a person recognises it. */
  readonly prefix: string;
  /** None are all of the role. */
  readonly scopes: readonly string[];
  /** Null allows all that the tenant may use. */
  readonly allowedModels: readonly string[] | null;
  readonly allowedProviders: readonly Provider[] | null;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  readonly lastUsedAt: Date | null;
  /** The key that took its place. */
  readonly replacedBy: string | null;
  readonly createdAt: Date;
}

const SELECT_KEY = `
  SELECT key_id AS "keyId", role, name, project_id AS "projectId", customer_id AS "customerId", prefix, scopes,
    allowed_models AS "allowedModels", allowed_providers AS "allowedProviders", expires_at AS "expiresAt",
    revoked_at AS "revokedAt", last_used_at AS "lastUsedAt", replaced_by AS "replacedBy", created_at AS "createdAt"
  FROM api_keys`;

/** SQL that holds for the keys of a tenant ($1), or of the gateway itself where that is null. */
function ownedBy(tenantId: string | null): string {
  return tenantId === null ? '($1::text IS NULL AND tenant_id IS NULL)' : 'tenant_id = $1';
}

/** In the order in which they were made, those after a key id. A null tenant is the gateway itself. */
export async function listKeyRecords(
  db: Queryable,
  tenantId: string | null,
  page: { readonly after: string | null; readonly limit: number },
): Promise<KeyRecord[]> {
  const { rows } = await db.query<KeyRecord>(
    `${SELECT_KEY} WHERE ${ownedBy(tenantId)} AND ($2::text IS NULL OR key_id > $2) ORDER BY key_id LIMIT $3`,
    [tenantId, page.after, page.limit],
  );
  return rows;
}

/** Null for a key that is not the tenant's, or not the gateway's where that is null. */
export async function findKeyRecord(
  db: Queryable,
  { tenantId, keyId }: { readonly tenantId: string | null; readonly keyId: string },
  { lock = false }: { readonly lock?: boolean } = {},
): Promise<KeyRecord | null> {
  const { rows } = await db.query<KeyRecord>(
    `${SELECT_KEY} WHERE ${ownedBy(tenantId)} AND key_id = $2 ${lock ? 'FOR NO KEY UPDATE' : ''}`,
    [tenantId, keyId],
  );
  return rows[0] ?? null;
}

/** From now on it opens nothing. One that was revoked before stays as it is. Its row must be locked. */
export async function revokeKey(db: Queryable, keyId: string, now: Date): Promise<void> {
  await db.query('UPDATE api_keys SET revoked_at = coalesce(revoked_at, $2) WHERE key_id = $1', [keyId, now]);
}

/** A key ends at `endsAt`, or sooner by itself; recurring jobs made with it go on under its successor. Its row must be locked. */
export async function replaceKey(
  db: Queryable,
  keyId: string,
  { successorId, endsAt }: { readonly successorId: string; readonly endsAt: Date },
): Promise<void> {
  await db.query('UPDATE api_keys SET replaced_by = $2, expires_at = least(expires_at, $3) WHERE key_id = $1', [
    keyId,
    successorId,
    endsAt,
  ]);
  await db.query('UPDATE batch_schedules SET api_key_id = $2 WHERE api_key_id = $1', [keyId, successorId]);
}

const ADMIN_KEYS_LOCK = "hashtextextended('batchgate.gateway_admin_keys', 0)";

/**
 * Whether another key than this one, with all rights of a gateway admin, lives at least as long. Others that ask wait until
 * the transaction ends, so that no two keys are taken away each on account of the other.
 */
export async function hasOtherAdminKey(
  client: pg.PoolClient,
  { keyId, expiresAt }: Pick<KeyRecord, 'keyId' | 'expiresAt'>,
  now: Date,
): Promise<boolean> {
  await client.query(`SELECT pg_advisory_xact_lock(${ADMIN_KEYS_LOCK})`);
  const { rowCount } = await client.query(
    `SELECT 1 FROM api_keys WHERE role = 'gateway_admin' AND key_id <> $1 AND revoked_at IS NULL
       AND (scopes = '{}' OR scopes @> '{admin:write}') AND coalesce(expires_at, 'infinity') > $3
       AND coalesce(expires_at, 'infinity') >= coalesce($2::timestamptz, 'infinity') LIMIT 1`,
    [keyId, expiresAt, now],
  );
  return rowCount === 1;
}
