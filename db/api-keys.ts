import type pg from 'pg';
import { isRole, type Principal, type Role } from '../domain/principal.ts';
import type { Provider } from '../domain/provider.ts';
import { newId } from './ids.ts';
import { prepared } from './prepared.ts';
import { inWhicheverScope } from './row-scope.ts';
import { generateKey, hashKey, isKey } from './secret-key.ts';

type Queryable = Pick<pg.ClientBase, 'query'>;

/** Times of last use are kept this coarse, so that reading with a key does not write on every call. */
const LAST_USED_STEP_MS = 60_000;

export interface NewKey {
  readonly role: Role;
  readonly name: string;
  /** Null for the gateway's own roles, and only for them. */
  readonly tenantId: string | null;
  readonly projectId?: string | null;
  readonly customerId?: string | null;
  /** None are all of the role. */
  readonly scopes?: readonly string[];
  readonly expiresAt?: Date | null;
  /** Null allows all that the tenant may use. */
  readonly allowedModels?: readonly string[] | null;
  readonly allowedProviders?: readonly Provider[] | null;
}

export interface CreatedKey {
  readonly keyId: string;
  /** The secret itself: shown to its owner now and never again. */
  readonly key: string;
  /** Its beginning, by which a person recognises it. */
  readonly prefix: string;
}

/** A new key with its secret, which is shown this once: stored are its SHA-256 and its beginning. */
export async function createKey(db: Queryable, wanted: NewKey): Promise<CreatedKey> {
  const keyId = newId('key');
  const { key, prefix } = generateKey(wanted.role);
  const { role, name, tenantId, projectId = null, customerId = null, scopes = [], expiresAt = null } = wanted;
  const { allowedModels = null, allowedProviders = null } = wanted;
  await db.query(
    `INSERT INTO api_keys (key_id, tenant_id, role, name, project_id, customer_id, prefix, key_hash, scopes, expires_at,
       allowed_models, allowed_providers)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
    [
      ...[keyId, tenantId, role, name, projectId, customerId, prefix, hashKey(key), scopes, expiresAt],
      ...[allowedModels, allowedProviders],
    ],
  );
  return { keyId, key, prefix };
}

/**
 * Who a key speaks for; null when it is unknown, revoked or expired. That of a suspended tenant or customer is as good as
 * any: what starts new work asks for that by itself. Notes the use, at most once a minute.
 */
export async function findPrincipal(db: Queryable, key: string, now: Date): Promise<Principal | null> {
  if (!isKey(key)) return null;
  const usedBefore = new Date(now.getTime() - LAST_USED_STEP_MS);
  const { rows } = await inWhicheverScope(() =>
    prepared(db).query<KeyRow>(FIND_PRINCIPAL, [hashKey(key), now, usedBefore]),
  );
  const row = rows[0];
  if (row === undefined) return null;
  if (!isRole(row.role)) throw new Error(`key ${row.key_id} has the unknown role ${row.role}`);
  return {
    keyId: row.key_id,
    role: row.role,
    tenantId: row.tenant_id,
    projectId: row.project_id,
    customerId: row.customer_id,
    scopes: row.scopes,
  };
}

const FIND_PRINCIPAL =
  'SELECT key_id, role, tenant_id, project_id, customer_id, scopes FROM find_principal($1, $2, $3)';

interface KeyRow {
  readonly key_id: string;
  readonly role: string;
  readonly tenant_id: string | null;
  readonly project_id: string | null;
  readonly customer_id: string | null;
  readonly scopes: readonly string[];
}
