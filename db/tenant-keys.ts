import type pg from 'pg';
import type { Role } from '../domain/principal.ts';
import type { Provider } from '../domain/provider.ts';

type Queryable = Pick<pg.ClientBase, 'query'>;

/** A tenant's key as its admins see it: never the secret, nor its hash. */
export interface TenantKey {
  readonly keyId: string;
  readonly role: Role;
  readonly name: string;
  readonly projectId: string | null;
  readonly customerId: string | null;
  /** The secret's beginning, by which a person recognises it. */
  readonly prefix: string;
  readonly scopes: readonly string[];
  /** Null allows all that the tenant may use. */
  readonly allowedModels: readonly string[] | null;
  readonly allowedProviders: readonly Provider[] | null;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  readonly lastUsedAt: Date | null;
  readonly createdAt: Date;
}

const SELECT_KEY = `
  SELECT key_id AS "keyId", role, name, project_id AS "projectId", customer_id AS "customerId", prefix, scopes,
    allowed_models AS "allowedModels", allowed_providers AS "allowedProviders", expires_at AS "expiresAt",
    revoked_at AS "revokedAt", last_used_at AS "lastUsedAt", created_at AS "createdAt"
  FROM api_keys`;

/** In the order in which they were made, those after a key id. */
export async function listTenantKeys(
  db: Queryable,
  tenantId: string,
  page: { readonly after: string | null; readonly limit: number },
): Promise<TenantKey[]> {
  const { rows } = await db.query<TenantKey>(
    `${SELECT_KEY} WHERE tenant_id = $1 AND ($2::text IS NULL OR key_id > $2) ORDER BY key_id LIMIT $3`,
    [tenantId, page.after, page.limit],
  );
  return rows;
}

/** Null for a key that is not the tenant's. */
export async function findTenantKey(db: Queryable, tenantId: string, keyId: string): Promise<TenantKey | null> {
  const { rows } = await db.query<TenantKey>(`${SELECT_KEY} WHERE tenant_id = $1 AND key_id = $2`, [tenantId, keyId]);
  return rows[0] ?? null;
}
