import type pg from 'pg';
import { type AccountSuspension, suspensionMessage } from '../domain/account-suspension.ts';
import { GatewayError } from '../domain/gateway-error.ts';

type Queryable = Pick<pg.ClientBase, 'query'>;

/** Whose new work it is. */
export interface Account {
  readonly tenantId: string;
  readonly customerId: string | null;
}

interface StandingRow {
  readonly tenantIsSuspended: boolean;
  readonly tenantReason: string | null;
  readonly customerIsSuspended: boolean;
  readonly customerReason: string | null;
}

/** Of the tenant first, else of its customer; null where both are in good standing. */
export async function findAccountSuspension(
  db: Queryable,
  { tenantId, customerId }: Account,
): Promise<AccountSuspension | null> {
  const { rows } = await db.query<StandingRow>(
    `SELECT t.suspended_at IS NOT NULL AS "tenantIsSuspended", t.suspension_reason AS "tenantReason",
       c.suspended_at IS NOT NULL AS "customerIsSuspended", c.suspension_reason AS "customerReason"
     FROM tenants t LEFT JOIN customers c ON c.tenant_id = t.tenant_id AND c.customer_id = $2
     WHERE t.tenant_id = $1`,
    [tenantId, customerId],
  );
  const [row] = rows;
  if (row?.tenantIsSuspended === true) return { of: 'tenant', reason: row.tenantReason };
  return row?.customerIsSuspended === true ? { of: 'customer', reason: row.customerReason } : null;
}

/** Throws `tenant_suspended`, which says why. */
export async function requireActiveAccount(db: Queryable, account: Account): Promise<void> {
  const suspension = await findAccountSuspension(db, account);
  if (suspension === null) return;
  const field = suspension.of === 'customer' ? { field: 'customer_id' } : {};
  throw new GatewayError('tenant_suspended', suspensionMessage(suspension), field);
}
