import { createRoute } from '@hono/zod-openapi';
import { BudgetList } from '../../../contracts/budget.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp } from '../../env.ts';
import { allow, TENANT_ROLES } from '../../middleware/allow.ts';
import { listOwnedBudgets } from '../../operations/list-budgets.ts';
import { errorResponses, jsonResponse } from '../../responses.ts';
import { USAGE_ROUTE } from './paths.ts';

const route = createRoute({
  ...USAGE_ROUTE,
  operationId: 'list_budgets',
  summary: 'What may be spent, and how far it has got',
  method: 'get',
  path: '/v1/budgets',
  middleware: allow({ roles: TENANT_ROLES, scope: 'usage:read' }),
  responses: { 200: jsonResponse(BudgetList, 'The budgets.'), ...errorResponses() },
});

export function registerListBudgets(app: ApiApp, dependencies: ApiDependencies): void {
  app.openapi(route, async (c) => c.json(await listOwnedBudgets(dependencies, { principal: c.var.principal }), 200));
}
