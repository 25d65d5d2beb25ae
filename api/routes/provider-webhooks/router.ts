import type { ApiDependencies } from '../../dependencies.ts';
import { type ApiApp, newApiApp } from '../../env.ts';
import { registerReceiveEvent } from './receive-event.ts';

/** `/provider-webhooks`: what providers send by themselves. No key is asked for; a signature is. */
export function providerWebhooksRouter(dependencies: ApiDependencies): ApiApp {
  const app = newApiApp();
  registerReceiveEvent(app, dependencies);
  return app;
}
