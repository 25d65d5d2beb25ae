import type pg from 'pg';
import type { JsonObject } from '../domain/json-object.ts';

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
  /** Model alias → `provider/model`. */
  readonly aliases: JsonObject;
  readonly suspendedAt: Date | null;
}

export interface NewTenant {
  readonly tenantId: string;
  readonly name: string;
  readonly currency?: string;
  readonly timeZone?: string;
  readonly policy?: JsonObject;
  readonly aliases?: JsonObject;
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
    `SELECT tenant_id AS "tenantId", name, currency, time_zone AS "timeZone", policy, aliases, suspended_at AS "suspendedAt"
     FROM tenants WHERE tenant_id = $1`,
    [tenantId],
  );
  return rows[0] ?? null;
}
