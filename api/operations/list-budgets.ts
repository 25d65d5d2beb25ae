import type { BudgetList } from '../../contracts/budget.ts';
import { listBudgets } from '../../db/budgets.ts';
import { formatAmount } from '../../domain/money.ts';
import type { Principal } from '../../domain/principal.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { tenantScope } from './owned-job.ts';

/** What the key's tenant, project or customer may spend, and how far it has got. */
export async function listOwnedBudgets(
  { db, now }: Pick<ApiDependencies, 'db' | 'now'>,
  { principal }: { readonly principal: Principal },
): Promise<BudgetList> {
  const at = now();
  const budgets = await listBudgets(db.pool, tenantScope(principal), at);
  return {
    data: budgets.map((budget) => ({
      scope: budget.scope,
      scope_id: budget.scopeId,
      period: budget.period,
      period_start: budget.periodStart,
      limit: formatAmount(budget.limit),
      held: formatAmount(budget.held),
      settled: formatAmount(budget.settled),
      available: formatAmount(budget.available),
      currency: budget.currency,
    })),
    as_of: at.toISOString(),
  };
}
