import type { ApiDependencies } from '../../dependencies.ts';
import { type ApiApp, newApiApp } from '../../env.ts';
import { registerListBudgets } from './list-budgets.ts';
import { registerReportUsage } from './report-usage.ts';

/** What a tenant has used and may spend. */
export function usageRouter(dependencies: ApiDependencies): ApiApp {
  const app = newApiApp();
  registerReportUsage(app, dependencies);
  registerListBudgets(app, dependencies);
  return app;
}
