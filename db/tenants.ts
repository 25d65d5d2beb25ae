import type pg from 'pg';
import type { JsonObject } from '../domain/json-object.ts';
import type { ModelAliases } from '../domain/model-alias.ts';
import type { Provider } from '../domain/provider.ts';

type Queryable = Pick<pg.ClientBase, 'query'>;

/** A customer of the gateway. */
export interface Tenant {
  readonly tenantId: string;
  readonly name: string;
  /** ISO 4217 */
  readonly currency: string;
  /** IANA name; the months of its budgets begin at its midnight. */
  readonly timeZone: string;
  readonly policy: JsonObject;
  readonly aliases: ModelAliases;
  /** Null allows all. */
  readonly allowedModels: readonly string[] | null;
  /** Null allows all. */
  readonly allowedProviders: readonly Provider[] | null;
  readonly suspendedAt: Date | null;
}

export interface NewTenant {
  readonly tenantId: string;
  readonly name: string;
  readonly currency?: string;
  readonly timeZone?: string;
  readonly policy?: JsonObject;
  readonly aliases?: ModelAliases;
}

/** False when the id is taken. */
export async function insertTenant(db: Queryable, tenant: NewTenant): Promise<boolean> {
  const { tenantId, name, currency = 'USD', timeZone = 'UTC', policy = {}, aliases = {} } = tenant;
  const { rowCount } = await db.query(
    `INSERT INTO tenants (tenant_id, name, currency, time_zone, policy, aliases) VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT (tenant_id) DO NOTHING`,
    [tenantId, name, currency, timeZone, policy, aliases],
  );
  return rowCount === 1;
}

export async function findTenant(db: Queryable, tenantId: string): Promise<Tenant | null> {
  const { rows } = await db.query<Tenant>(
    `SELECT tenant_id AS "tenantId", name, currency, time_zone AS "timeZone", policy, aliases,
       allowed_models AS "allowedModels", allowed_providers AS "allowedProviders", suspended_at AS "suspendedAt"
     FROM tenants WHERE tenant_id = $1`,
    [tenantId],
  );
  return rows[0] ?? null;
}

/** Replaces the whole map. False for an unknown tenant. */
export async function setAliases(db: Queryable, tenantId: string, aliases: ModelAliases): Promise<boolean> {
  const { rowCount } = await db.query('UPDATE tenants SET aliases = $2 WHERE tenant_id = $1', [
    tenantId,
    JSON.stringify(aliases),
  ]);
  return rowCount === 1;
}
