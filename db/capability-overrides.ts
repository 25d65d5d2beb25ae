import type pg from 'pg';
import type { CapabilityOverride } from '../domain/catalogue.ts';
import type { Endpoint } from '../domain/provider.ts';
import type { Feature } from '../domain/request-features.ts';
import { newId } from './ids.ts';
import {
  listOverrideRows,
  listRowsInForce,
  type OverrideFilter,
  type OverridePage,
  type OverrideRecord,
  type OverrideRow,
  recordOf,
  withdrawOverride,
} from './override-rows.ts';

type Queryable = Pick<pg.ClientBase, 'query'>;

/** What an admin said of a model family. */
export interface CapabilityOverrideRecord extends OverrideRecord, CapabilityOverride {}

export interface NewCapabilityOverride extends CapabilityOverride {
  /** Null for every tenant. */
  readonly tenantId: string | null;
  readonly createdBy: string;
}

interface CapabilityOverrideRow extends OverrideRow {
  readonly endpoint: Endpoint;
  readonly feature: Feature | null;
  readonly is_allowed: boolean;
}

const SELECT_CAPABILITY = `
  SELECT override_id, tenant_id, provider, endpoint, model, feature, is_allowed, reason, created_by, created_at,
    withdrawn_by, withdrawn_at
  FROM capability_overrides`;

export async function insertCapabilityOverride(db: Queryable, override: NewCapabilityOverride): Promise<string> {
  const overrideId = newId('capabilityOverride');
  const { tenantId, provider, endpoint, model, feature, isAllowed, reason, createdBy } = override;
  await db.query(
    `INSERT INTO capability_overrides (override_id, tenant_id, provider, endpoint, model, feature, is_allowed, reason, created_by)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [overrideId, tenantId, provider, endpoint, model, feature, isAllowed, reason, createdBy],
  );
  return overrideId;
}

export async function findCapabilityOverride(
  db: Queryable,
  overrideId: string,
): Promise<CapabilityOverrideRecord | null> {
  const { rows } = await db.query<CapabilityOverrideRow>(`${SELECT_CAPABILITY} WHERE override_id = $1`, [overrideId]);
  return rows[0] === undefined ? null : toCapabilityOverride(rows[0]);
}

export async function listCapabilityOverrides(
  db: Queryable,
  filter: OverrideFilter,
  page: OverridePage,
): Promise<CapabilityOverrideRecord[]> {
  const rows = await listOverrideRows<CapabilityOverrideRow>(db, SELECT_CAPABILITY, filter, page);
  return rows.map(toCapabilityOverride);
}

/** As `listRowsInForce`. */
export async function listCapabilitiesInForce(db: Queryable, tenantId: string): Promise<CapabilityOverrideRecord[]> {
  const rows = await listRowsInForce<CapabilityOverrideRow>(db, SELECT_CAPABILITY, tenantId);
  return rows.map(toCapabilityOverride);
}

/** Null for an unknown id. */
export async function withdrawCapabilityOverride(
  db: Queryable,
  overrideId: string,
  by: string,
): Promise<CapabilityOverrideRecord | null> {
  await withdrawOverride(db, 'capability_overrides', overrideId, by);
  return findCapabilityOverride(db, overrideId);
}

function toCapabilityOverride(row: CapabilityOverrideRow): CapabilityOverrideRecord {
  const { provider, endpoint, model, feature, is_allowed: isAllowed } = row;
  return { ...recordOf(row), provider, endpoint, model, feature, isAllowed };
}
