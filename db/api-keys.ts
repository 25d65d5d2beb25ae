import type pg from 'pg';
import { GatewayError } from '../domain/gateway-error.ts';
import { isRole, type Principal, type Role } from '../domain/principal.ts';
import { newId } from './ids.ts';
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
  readonly scopes?: readonly string[];
  readonly expiresAt?: Date | null;
}

export interface CreatedKey {
  readonly keyId: string;
  /** The secret itself: shown to its owner now and never again. */
  readonly key: string;
  /** Its beginning, by which a person recognises it. */
  readonly prefix: string;
}

export async function createKey(db: Queryable, wanted: NewKey): Promise<CreatedKey> {
  const keyId = newId('key');
  const { key, prefix } = generateKey(wanted.role);
  const { role, name, tenantId, projectId = null, customerId = null, scopes = [], expiresAt = null } = wanted;
  await db.query(
    `INSERT INTO api_keys (key_id, tenant_id, role, name, project_id, customer_id, prefix, key_hash, scopes, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [keyId, tenantId, role, name, projectId, customerId, prefix, hashKey(key), scopes, expiresAt],
  );
  return { keyId, key, prefix };
}

/**
 * Who a key speaks for; null when it is unknown, revoked or expired. Throws `tenant_suspended` for a good key whose
 * tenant or customer is suspended. Notes the use, at most once a minute.
 */
export async function findPrincipal(db: Queryable, key: string, now: Date): Promise<Principal | null> {
  if (!isKey(key)) return null;
  const { rows } = await db.query<KeyRow>(
    `SELECT k.key_id, k.role, k.tenant_id, k.project_id, k.customer_id, k.last_used_at,
       t.suspended_at IS NOT NULL OR c.suspended_at IS NOT NULL AS suspended
     FROM api_keys k
     LEFT JOIN tenants t ON t.tenant_id = k.tenant_id
     LEFT JOIN customers c ON c.tenant_id = k.tenant_id AND c.customer_id = k.customer_id
     WHERE k.key_hash = $1 AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > $2)`,
    [hashKey(key), now],
  );
  const row = rows[0];
  if (row === undefined) return null;
  if (!isRole(row.role)) throw new Error(`key ${row.key_id} has the unknown role ${row.role}`);
  if (row.suspended)
    throw new GatewayError('tenant_suspended', 'This account is suspended. Ask whoever runs the gateway.');
  await noteUse(db, row, now);
  return {
    keyId: row.key_id,
    role: row.role,
    tenantId: row.tenant_id,
    projectId: row.project_id,
    customerId: row.customer_id,
  };
}

interface KeyRow {
  readonly key_id: string;
  readonly role: string;
  readonly tenant_id: string | null;
  readonly project_id: string | null;
  readonly customer_id: string | null;
  readonly last_used_at: Date | null;
  readonly suspended: boolean;
}

async function noteUse(db: Queryable, row: KeyRow, now: Date): Promise<void> {
  const before = new Date(now.getTime() - LAST_USED_STEP_MS);
  if (row.last_used_at !== null && row.last_used_at > before) return;
  await db.query(
    'UPDATE api_keys SET last_used_at = $2 WHERE key_id = $1 AND (last_used_at IS NULL OR last_used_at <= $3)',
    [row.key_id, now, before],
  );
}
