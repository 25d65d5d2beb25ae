import type pg from 'pg';

type Queryable = Pick<pg.ClientBase, 'query'>;

/** A customer of a tenant, who may hold keys of its own. */
export interface Customer {
  readonly customerId: string;
  readonly name: string;
  /** Nothing new starts while this is set. */
  readonly suspendedAt: Date | null;
  readonly suspensionReason: string | null;
  /** The id of the key. */
  readonly suspendedBy: string | null;
  readonly createdAt: Date;
}

const SELECT_CUSTOMER = `
  SELECT customer_id AS "customerId", name, suspended_at AS "suspendedAt", suspension_reason AS "suspensionReason",
    suspended_by AS "suspendedBy", created_at AS "createdAt"
  FROM customers`;

/** False when the id is taken. */
export async function insertCustomer(
  db: Queryable,
  { tenantId, customerId, name }: { readonly tenantId: string; readonly customerId: string; readonly name: string },
): Promise<boolean> {
  const { rowCount } = await db.query(
    'INSERT INTO customers (tenant_id, customer_id, name) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
    [tenantId, customerId, name],
  );
  return rowCount === 1;
}

export async function findCustomer(db: Queryable, tenantId: string, customerId: string): Promise<Customer | null> {
  const { rows } = await db.query<Customer>(`${SELECT_CUSTOMER} WHERE tenant_id = $1 AND customer_id = $2`, [
    tenantId,
    customerId,
  ]);
  return rows[0] ?? null;
}

/** By id, those after one. */
export async function listCustomers(
  db: Queryable,
  tenantId: string,
  page: { readonly after: string | null; readonly limit: number },
): Promise<Customer[]> {
  const { rows } = await db.query<Customer>(
    `${SELECT_CUSTOMER} WHERE tenant_id = $1 AND ($2::text IS NULL OR customer_id > $2) ORDER BY customer_id LIMIT $3`,
    [tenantId, page.after, page.limit],
  );
  return rows;
}

/** False for one that is not the tenant's. */
export async function renameCustomer(
  db: Queryable,
  { tenantId, customerId, name }: { readonly tenantId: string; readonly customerId: string; readonly name: string },
): Promise<boolean> {
  const { rowCount } = await db.query('UPDATE customers SET name = $3 WHERE tenant_id = $1 AND customer_id = $2', [
    tenantId,
    customerId,
    name,
  ]);
  return rowCount === 1;
}
