import type { BudgetList } from '../../contracts/budget.ts';
import { listBudgets } from '../../db/budgets.ts';
import type { JobScope } from '../../db/job-scope.ts';
import type { Principal } from '../../domain/principal.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { presentBudget } from '../presentation/budget.ts';
import { requireTenant } from './known-tenant.ts';
import { tenantScope } from './owned-job.ts';
import { currentPricing } from './show-quote.ts';

type Dependencies = Pick<ApiDependencies, 'db' | 'now'>;

/** What the key's tenant, project or customer may spend, and how far it has got. */
export async function listOwnedBudgets(
  dependencies: Dependencies,
  { principal }: { readonly principal: Principal },
): Promise<BudgetList> {
  const scope = tenantScope(principal);
  const pricing = await currentPricing(dependencies.db, principal, scope);
  // What is held and settled of a budget is in the tenant's prices, which a customer with prices of its own is not told.
  if (pricing !== null) return { data: [], as_of: dependencies.now().toISOString() };
  return listBudgetsOf(dependencies, scope);
}

/** All budgets of a tenant. Throws `not_found`. */
export async function listTenantBudgets(
  dependencies: Dependencies,
  { tenantId }: { readonly tenantId: string },
): Promise<BudgetList> {
  await requireTenant(dependencies, tenantId);
  return listBudgetsOf(dependencies, { tenantId, projectId: null, customerId: null });
}

async function listBudgetsOf({ db, now }: Dependencies, scope: JobScope): Promise<BudgetList> {
  const at = now();
  const budgets = await listBudgets(db.pool, scope, at);
  return { data: budgets.map(presentBudget), as_of: at.toISOString() };
}
