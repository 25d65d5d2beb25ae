import { AMOUNT_SCALE } from '../domain/money.ts';
import { createKey } from './api-keys.ts';
import { insertBudget } from './budgets.ts';
import type { Database } from './client.ts';
import { insertTenant } from './tenants.ts';
import { inTransaction } from './transaction.ts';

export const LOCAL_TENANT_ID = 'tenant_local';
const BUDGET_LIMIT = 1000n * AMOUNT_SCALE;
const LOCK = "hashtextextended('batchgate.bootstrap', 0)";

/** The first keys of a gateway, in clear: whoever asked keeps them. */
export interface FirstKeys {
  readonly adminKey: string;
  readonly operatorKey: string;
  readonly tenantKey: string;
}

/**
 * Gives an empty gateway a tenant, 1000.00 USD to spend, and a key for each role that a first look needs. Null where any
 * key exists already; of several processes at once, one gets the keys.
 */
export async function bootstrap(db: Database): Promise<FirstKeys | null> {
  return inTransaction(db, async (client) => {
    await client.query(`SELECT pg_advisory_xact_lock(${LOCK})`);
    const { rowCount } = await client.query('SELECT FROM api_keys LIMIT 1');
    if (rowCount !== 0) return null;
    const tenantId = LOCAL_TENANT_ID;
    await insertTenant(client, { tenantId, name: 'Local' });
    await insertBudget(client, { tenantId, scope: 'tenant', scopeId: tenantId, period: 'total', limit: BUDGET_LIMIT });
    const admin = await createKey(client, { role: 'gateway_admin', name: 'First admin key', tenantId: null });
    const operator = await createKey(client, { role: 'operator', name: 'First operator key', tenantId: null });
    const tenant = await createKey(client, { role: 'tenant_admin', name: 'First tenant key', tenantId });
    return { adminKey: admin.key, operatorKey: operator.key, tenantKey: tenant.key };
  });
}
