import type pg from 'pg';
import type { Provider } from '../domain/provider.ts';

type Queryable = Pick<pg.ClientBase, 'query'>;

export type OverrideTable = 'price_overrides' | 'capability_overrides';

/** Whose word an override is, and until when it held. A null tenant is every tenant. */
export interface OverrideRecord {
  readonly overrideId: string;
  readonly tenantId: string | null;
  readonly reason: string;
  /** The key's id. */
  readonly createdBy: string;
  readonly createdAt: Date;
  readonly withdrawnBy: string | null;
  readonly withdrawnAt: Date | null;
}

/** Columns both tables have, as pg gives them. */
export interface OverrideRow {
  readonly override_id: string;
  readonly tenant_id: string | null;
  readonly provider: Provider;
  readonly model: string;
  readonly reason: string;
  readonly created_by: string;
  readonly created_at: Date;
  readonly withdrawn_by: string | null;
  readonly withdrawn_at: Date | null;
}

export interface OverrideFilter {
  /** Only of this tenant. */
  readonly tenantId?: string | undefined;
  readonly provider?: Provider | undefined;
  readonly includeWithdrawn: boolean;
}

export interface OverridePage {
  /** Id of the last override of the page before. */
  readonly after: string | null;
  readonly limit: number;
}

export function recordOf(row: OverrideRow): OverrideRecord {
  return {
    overrideId: row.override_id,
    tenantId: row.tenant_id,
    reason: row.reason,
    createdBy: row.created_by,
    createdAt: row.created_at,
    withdrawnBy: row.withdrawn_by,
    withdrawnAt: row.withdrawn_at,
  };
}

/** Newest first. `select` is a SELECT from one of the tables, without conditions. */
export async function listOverrideRows<Row extends OverrideRow>(
  db: Queryable,
  select: string,
  filter: OverrideFilter,
  page: OverridePage,
): Promise<Row[]> {
  const { rows } = await db.query<Row>(
    `${select} WHERE ($1::text IS NULL OR tenant_id = $1) AND ($2::text IS NULL OR provider = $2)
       AND ($3 OR withdrawn_at IS NULL) AND ($4::text IS NULL OR override_id < $4)
     ORDER BY override_id DESC LIMIT $5`,
    [filter.tenantId ?? null, filter.provider ?? null, filter.includeWithdrawn, page.after, page.limit],
  );
  return rows;
}

/** What holds for a tenant now: what is said of every tenant first, then of this one, each oldest first. */
export async function listRowsInForce<Row extends OverrideRow>(
  db: Queryable,
  select: string,
  tenantId: string,
): Promise<Row[]> {
  const { rows } = await db.query<Row>(
    `${select} WHERE withdrawn_at IS NULL AND (tenant_id IS NULL OR tenant_id = $1)
     ORDER BY tenant_id IS NOT NULL, created_at, override_id`,
    [tenantId],
  );
  return rows;
}

/** Withdraws what is not withdrawn yet; the first withdrawal stands. */
export async function withdrawOverride(
  db: Queryable,
  table: OverrideTable,
  overrideId: string,
  by: string,
): Promise<void> {
  await db.query(
    `UPDATE ${table} SET withdrawn_at = now(), withdrawn_by = $2 WHERE override_id = $1 AND withdrawn_at IS NULL`,
    [overrideId, by],
  );
}
