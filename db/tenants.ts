import type pg from 'pg';
import type { JsonObject } from '../domain/json-object.ts';
import type { ModelAliases } from '../domain/model-alias.ts';
import type { OveragePolicy } from '../domain/overage.ts';
import type { Provider } from '../domain/provider.ts';
import { readTenantPolicy } from '../domain/tenant-policy.ts';

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
  /** Of every job that does not ask for smaller shards; null for the provider's own limits. */
  readonly maxItemsPerShard: number | null;
  /** Of jobs accepted from now on. */
  readonly overagePolicy: OveragePolicy;
  /** Held on top of estimates: a decimal part of them, such as `0.10`. Of jobs accepted from now on. */
  readonly estimateMargin: string;
  /** Nothing new starts while this is set. */
  readonly suspendedAt: Date | null;
  readonly suspensionReason: string | null;
  /** The id of the key. */
  readonly suspendedBy: string | null;
  readonly createdAt: Date;
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

const SELECT_TENANT = `
  SELECT tenant_id AS "tenantId", name, currency, time_zone AS "timeZone", policy, aliases,
    allowed_models AS "allowedModels", allowed_providers AS "allowedProviders", overage_policy AS "overagePolicy",
    estimate_margin AS "estimateMargin", suspended_at AS "suspendedAt", suspension_reason AS "suspensionReason",
    suspended_by AS "suspendedBy", created_at AS "createdAt"
  FROM tenants`;

export async function findTenant(db: Queryable, tenantId: string): Promise<Tenant | null> {
  const { rows } = await db.query<TenantRow>(`${SELECT_TENANT} WHERE tenant_id = $1`, [tenantId]);
  return rows[0] === undefined ? null : toTenant(rows[0]);
}

/** By id, those after one. */
export async function listTenants(
  db: Queryable,
  page: { readonly after: string | null; readonly limit: number },
): Promise<Tenant[]> {
  const { rows } = await db.query<TenantRow>(
    `${SELECT_TENANT} WHERE $1::text IS NULL OR tenant_id > $1 ORDER BY tenant_id LIMIT $2`,
    [page.after, page.limit],
  );
  return rows.map(toTenant);
}

type TenantRow = Omit<Tenant, 'maxItemsPerShard'>;

function toTenant(row: TenantRow): Tenant {
  return { ...row, maxItemsPerShard: readTenantPolicy(row.policy).maxItemsPerShard };
}

/** False for an unknown tenant. */
export async function setTenantName(db: Queryable, tenantId: string, name: string): Promise<boolean> {
  const { rowCount } = await db.query('UPDATE tenants SET name = $2 WHERE tenant_id = $1', [tenantId, name]);
  return rowCount === 1;
}

/** Sets members of the policy, by their stored names; the others stay. False for an unknown tenant. */
export async function setTenantPolicy(db: Queryable, tenantId: string, members: JsonObject): Promise<boolean> {
  const { rowCount } = await db.query('UPDATE tenants SET policy = policy || $2::jsonb WHERE tenant_id = $1', [
    tenantId,
    JSON.stringify(members),
  ]);
  return rowCount === 1;
}

/** Whether Postgres computes with a time zone of this IANA name, spelled as it is there. */
export async function isTimeZone(db: Queryable, name: string): Promise<boolean> {
  const { rowCount } = await db.query(
    "SELECT 1 FROM pg_timezone_names WHERE name = $1 AND name !~ '^(posix|right/|localtime|Factory)'",
    [name],
  );
  return rowCount === 1;
}

/** From then on the months of its budgets begin at that zone's midnight. False for an unknown tenant. */
export async function setTimeZone(db: Queryable, tenantId: string, timeZone: string): Promise<boolean> {
  const { rowCount } = await db.query('UPDATE tenants SET time_zone = $2 WHERE tenant_id = $1', [tenantId, timeZone]);
  return rowCount === 1;
}

/** For jobs planned from then on. False for an unknown tenant. */
export async function setMaxItemsPerShard(db: Queryable, tenantId: string, items: number | null): Promise<boolean> {
  const { rowCount } = await db.query(
    `UPDATE tenants SET policy = CASE WHEN $2::int IS NULL THEN policy - 'max_items_per_shard'
       ELSE policy || jsonb_build_object('max_items_per_shard', $2::int) END WHERE tenant_id = $1`,
    [tenantId, items],
  );
  return rowCount === 1;
}

/** For jobs accepted from then on. False for an unknown tenant. */
export async function setOveragePolicy(db: Queryable, tenantId: string, policy: OveragePolicy): Promise<boolean> {
  const { rowCount } = await db.query('UPDATE tenants SET overage_policy = $2 WHERE tenant_id = $1', [
    tenantId,
    policy,
  ]);
  return rowCount === 1;
}

/** For jobs accepted from then on; a decimal from 0 to 5. False for an unknown tenant. */
export async function setEstimateMargin(db: Queryable, tenantId: string, margin: string): Promise<boolean> {
  const { rowCount } = await db.query('UPDATE tenants SET estimate_margin = $2 WHERE tenant_id = $1', [
    tenantId,
    margin,
  ]);
  return rowCount === 1;
}

/** Replaces the whole map. False for an unknown tenant. */
export async function setAliases(db: Queryable, tenantId: string, aliases: ModelAliases): Promise<boolean> {
  const { rowCount } = await db.query('UPDATE tenants SET aliases = $2 WHERE tenant_id = $1', [
    tenantId,
    JSON.stringify(aliases),
  ]);
  return rowCount === 1;
}
