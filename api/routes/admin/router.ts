import type { ApiDependencies } from '../../dependencies.ts';
import { type ApiApp, newApiApp } from '../../env.ts';
import { registerAdminAccountSuspensions } from './account-suspensions.ts';
import { registerAdminAliases } from './aliases.ts';
import { registerAdminAuditLog } from './audit-log.ts';
import { registerAdminBudgets } from './budgets.ts';
import { registerAdminCapabilities } from './capabilities.ts';
import { registerAdminCredentials } from './credentials.ts';
import { registerAdminCustomerPricing } from './customer-pricing.ts';
import { registerAdminCustomers } from './customers.ts';
import { registerAdminDataDeletions } from './data-deletions.ts';
import { registerAdminEncryption } from './encryption.ts';
import { registerAdminGatewayCredentials } from './gateway-credentials.ts';
import { registerAdminGatewayKeys } from './gateway-keys.ts';
import { registerAdminKeys } from './keys.ts';
import { registerAdminLegalHolds } from './legal-holds.ts';
import { registerAdminPolicy } from './policy.ts';
import { registerAdminPrices } from './prices.ts';
import { registerAdminProjects } from './projects.ts';
import { registerAdminSuspensions } from './suspensions.ts';
import { registerAdminTenants } from './tenants.ts';

/** `/v1/admin`: what the gateway's admins may set. */
export function adminRouter(dependencies: ApiDependencies): ApiApp {
  const app = newApiApp();
  registerAdminTenants(app, dependencies);
  registerAdminAccountSuspensions(app, dependencies);
  registerAdminAuditLog(app, dependencies);
  registerAdminCustomers(app, dependencies);
  registerAdminGatewayKeys(app, dependencies);
  registerAdminPolicy(app, dependencies);
  registerAdminProjects(app, dependencies);
  registerAdminSuspensions(app, dependencies);
  registerAdminAliases(app, dependencies);
  registerAdminKeys(app, dependencies);
  registerAdminBudgets(app, dependencies);
  registerAdminPrices(app, dependencies);
  registerAdminCustomerPricing(app, dependencies);
  registerAdminCapabilities(app, dependencies);
  registerAdminGatewayCredentials(app, dependencies);
  registerAdminCredentials(app, dependencies);
  registerAdminEncryption(app, dependencies);
  registerAdminLegalHolds(app, dependencies);
  registerAdminDataDeletions(app, dependencies);
  return app;
}
