import { createRoute } from '@hono/zod-openapi';
import { BudgetList, SetBudget } from '../../../contracts/budget.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp } from '../../env.ts';
import { readJsonBody } from '../../middleware/read-json-body.ts';
import { listTenantBudgets } from '../../operations/list-budgets.ts';
import { replaceBudget } from '../../operations/set-budget.ts';
import { errorResponses, jsonBody, jsonResponse } from '../../responses.ts';
import { ADMIN_ROUTE, adminsOnly, MAX_BODY_BYTES, TENANT, TenantParams } from './paths.ts';

const listRoute = createRoute({
  ...ADMIN_ROUTE,
  operationId: 'admin_list_budgets',
  summary: 'A tenant’s budgets, with those of its projects and customers',
  method: 'get',
  path: `${TENANT}/budgets`,
  middleware: adminsOnly,
  request: { params: TenantParams },
  responses: { 200: jsonResponse(BudgetList, 'The budgets.'), ...errorResponses(404) },
});

const setRoute = createRoute({
  ...ADMIN_ROUTE,
  operationId: 'admin_set_budget',
  summary: 'Set or lift what a tenant, project or customer may spend',
  description:
    'A job must fit every budget of its tenant, project and customer. A new budget counts what is held from then on; one ' +
    'that was lifted and is set again has counted on. Jobs that were accepted go on whatever the limit is set to.',
  method: 'put',
  path: `${TENANT}/budgets`,
  middleware: [adminsOnly, readJsonBody(MAX_BODY_BYTES)] as const,
  request: { params: TenantParams, body: jsonBody(SetBudget, { required: true }) },
  responses: { 200: jsonResponse(BudgetList, 'All budgets as they are now.'), ...errorResponses(404, 413, 415) },
});

export function registerAdminBudgets(app: ApiApp, dependencies: ApiDependencies): void {
  app.openapi(listRoute, async (c) => {
    const { tenant_id: tenantId } = c.req.valid('param');
    return c.json(await listTenantBudgets(dependencies, { tenantId }), 200);
  });
  app.openapi(setRoute, async (c) => {
    const { tenant_id: tenantId } = c.req.valid('param');
    const request = { principal: c.var.principal, tenantId, budget: c.req.valid('json') };
    return c.json(await replaceBudget(dependencies, request), 200);
  });
}
