import type { BudgetList, SetBudget } from '../../contracts/budget.ts';
import { isStorable } from '../../contracts/metadata.ts';
import { recordAudit } from '../../db/audit-log.ts';
import { currentPeriodStart } from '../../db/budget-periods.ts';
import { type BudgetKey, liftBudget, setBudget } from '../../db/budgets.ts';
import { findJobOwner } from '../../db/job-owner.ts';
import { inTransaction } from '../../db/transaction.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import { parseAmount } from '../../domain/money.ts';
import type { Principal } from '../../domain/principal.ts';
import { alertOfBudget } from '../../ledger/budget-moves.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { requireTenant } from './known-tenant.ts';
import { listTenantBudgets } from './list-budgets.ts';

export interface SetBudgetRequest {
  readonly principal: Principal;
  readonly tenantId: string;
  readonly budget: SetBudget;
}

/**
 * Sets or lifts one limit of a tenant; jobs that were accepted go on. Answers all its budgets. Throws `not_found` for an
 * unknown tenant, project or customer.
 */
export async function replaceBudget(
  dependencies: Pick<ApiDependencies, 'db' | 'now'>,
  { principal, tenantId, budget }: SetBudgetRequest,
): Promise<BudgetList> {
  const { db, now } = dependencies;
  await requireTenant(dependencies, tenantId);
  const { scope, scope_id: scopeId = tenantId, period, limit, alert_percents: percents } = budget;
  const key = { tenantId, scope, scopeId, period };
  await requireOwner(dependencies, key);
  const alertPercents = percents === undefined ? null : percents.toSorted((a, b) => a - b);
  await inTransaction(db, async (client) => {
    const details = { scope, period, fields: limit === null ? ['lifted'] : ['limit'] };
    await recordAudit(client, { act: 'budget.set', actor: principal.keyId, tenantId, subject: scopeId, details });
    if (limit === null) return liftBudget(client, key);
    const budgetId = await setBudget(client, key, { limit: parseAmount(limit), alertPercents });
    const periodStart = await currentPeriodStart(client, key, now());
    await alertOfBudget(client, { budgetId, periodStart });
  });
  return listTenantBudgets(dependencies, { tenantId });
}

async function requireOwner({ db }: Pick<ApiDependencies, 'db'>, key: BudgetKey): Promise<void> {
  const { tenantId, scope, scopeId } = key;
  if (await isOwner(db, key)) return;
  const message =
    scope === 'tenant'
      ? `The tenant of this path is "${tenantId}". Leave scope_id out for it.`
      : `The tenant has no ${scope} "${scopeId.slice(0, 128)}". A limit is set for one that exists.`;
  throw new GatewayError('not_found', message, { field: 'scope_id' });
}

async function isOwner(db: ApiDependencies['db'], { tenantId, scope, scopeId }: BudgetKey): Promise<boolean> {
  if (scope === 'tenant') return scopeId === tenantId;
  if (!isStorable(scopeId)) return false;
  const named = { projectId: scope === 'project' ? scopeId : null, customerId: scope === 'customer' ? scopeId : null };
  const owner = await findJobOwner(db.pool, { tenantId, ...named });
  return owner?.projectIsKnown === true && owner.customerIsKnown;
}
