import type { ApiDependencies } from '../../dependencies.ts';
import { type ApiApp, newApiApp } from '../../env.ts';
import { registerAdminAliases } from './aliases.ts';
import { registerAdminCapabilities } from './capabilities.ts';
import { registerAdminKeys } from './keys.ts';
import { registerAdminPrices } from './prices.ts';
import { registerAdminTenants } from './tenants.ts';

/** `/v1/admin`: what the gateway's admins may set. */
export function adminRouter(dependencies: ApiDependencies): ApiApp {
  const app = newApiApp();
  registerAdminTenants(app, dependencies);
  registerAdminAliases(app, dependencies);
  registerAdminKeys(app, dependencies);
  registerAdminPrices(app, dependencies);
  registerAdminCapabilities(app, dependencies);
  return app;
}
