import type { ApiDependencies } from '../../dependencies.ts';
import { type ApiApp, newApiApp } from '../../env.ts';
import { registerListBudgets } from './list-budgets.ts';
import { registerListModels } from './list-models.ts';
import { registerReportUsage } from './report-usage.ts';

/** What a tenant may use, has used and may spend. */
export function usageRouter(dependencies: ApiDependencies): ApiApp {
  const app = newApiApp();
  registerReportUsage(app, dependencies);
  registerListBudgets(app, dependencies);
  registerListModels(app, dependencies);
  return app;
}
