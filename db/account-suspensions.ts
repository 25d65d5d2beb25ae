import type pg from 'pg';

type Queryable = Pick<pg.ClientBase, 'query'>;

/** Who is suspended: a tenant, or one customer of it. */
export interface SuspendedAccount {
  readonly tenantId: string;
  /** Null for the tenant as a whole. */
  readonly customerId: string | null;
}

export interface SuspensionWish {
  readonly reason: string;
  /** The id of the key. */
  readonly by: string;
  readonly now: Date;
}

/** Nothing new starts from now on. One that is suspended stays so since then, with the new reason. False for an unknown account. */
export async function suspendAccount(db: Queryable, account: SuspendedAccount, wish: SuspensionWish): Promise<boolean> {
  const { table, condition, values } = placeOf(account, 4);
  const { rowCount } = await db.query(
    `UPDATE ${table} SET suspended_at = coalesce(suspended_at, $1), suspension_reason = $2, suspended_by = $3 WHERE ${condition}`,
    [wish.now, wish.reason, wish.by, ...values],
  );
  return rowCount === 1;
}

/** False where nothing was suspended. */
export async function resumeAccount(db: Queryable, account: SuspendedAccount): Promise<boolean> {
  const { table, condition, values } = placeOf(account, 1);
  const { rowCount } = await db.query(
    `UPDATE ${table} SET suspended_at = NULL, suspension_reason = NULL, suspended_by = NULL
     WHERE suspended_at IS NOT NULL AND ${condition}`,
    values,
  );
  return rowCount === 1;
}

function placeOf(
  { tenantId, customerId }: SuspendedAccount,
  first: number,
): { readonly table: string; readonly condition: string; readonly values: unknown[] } {
  if (customerId === null) return { table: 'tenants', condition: `tenant_id = $${first}`, values: [tenantId] };
  const condition = `tenant_id = $${first} AND customer_id = $${first + 1}`;
  return { table: 'customers', condition, values: [tenantId, customerId] };
}
