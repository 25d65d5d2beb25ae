import type { ApiDependencies } from '../../dependencies.ts';
import { type ApiApp, newApiApp } from '../../env.ts';
import { registerAdminAliases } from './aliases.ts';
import { registerAdminBudgets } from './budgets.ts';
import { registerAdminCapabilities } from './capabilities.ts';
import { registerAdminCustomerPricing } from './customer-pricing.ts';
import { registerAdminKeys } from './keys.ts';
import { registerAdminPrices } from './prices.ts';
import { registerAdminSuspensions } from './suspensions.ts';
import { registerAdminTenants } from './tenants.ts';

/** `/v1/admin`: what the gateway's admins may set. */
export function adminRouter(dependencies: ApiDependencies): ApiApp {
  const app = newApiApp();
  registerAdminTenants(app, dependencies);
  registerAdminSuspensions(app, dependencies);
  registerAdminAliases(app, dependencies);
  registerAdminKeys(app, dependencies);
  registerAdminBudgets(app, dependencies);
  registerAdminPrices(app, dependencies);
  registerAdminCustomerPricing(app, dependencies);
  registerAdminCapabilities(app, dependencies);
  return app;
}
