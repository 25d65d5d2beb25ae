import type { ApiDependencies } from '../../dependencies.ts';
import { type ApiApp, newApiApp } from '../../env.ts';
import { registerDeliveries } from './deliveries.ts';
import { registerEndpoints } from './endpoints.ts';
import { registerSecrets } from './secrets.ts';

/** `/v1/webhooks`: whom a tenant has told of what happens. Fixed paths come before those with an id. */
export function webhooksRouter(dependencies: ApiDependencies): ApiApp {
  const app = newApiApp();
  registerDeliveries(app, dependencies);
  registerSecrets(app, dependencies);
  registerEndpoints(app, dependencies);
  return app;
}
