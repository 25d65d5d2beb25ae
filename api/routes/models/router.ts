import type { ApiDependencies } from '../../dependencies.ts';
import { type ApiApp, newApiApp } from '../../env.ts';
import { registerListCapabilities } from './list-capabilities.ts';
import { registerListModels } from './list-models.ts';

/** What can be run, and at what price. */
export function modelsRouter(dependencies: ApiDependencies): ApiApp {
  const app = newApiApp();
  registerListModels(app, dependencies);
  registerListCapabilities(app, dependencies);
  return app;
}
