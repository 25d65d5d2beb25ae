import { createRoute } from '@hono/zod-openapi';
import { ModelList } from '../../../contracts/model.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp } from '../../env.ts';
import { allow, TENANT_ROLES } from '../../middleware/allow.ts';
import { listModels } from '../../operations/list-models.ts';
import { errorResponses, jsonResponse } from '../../responses.ts';
import { MODELS_ROUTE } from './paths.ts';

const route = createRoute({
  ...MODELS_ROUTE,
  operationId: 'list_models',
  summary: 'Models with a batch price, and the tenant’s aliases',
  method: 'get',
  path: '/v1/models',
  middleware: allow({ roles: TENANT_ROLES, scope: 'models:read' }),
  responses: { 200: jsonResponse(ModelList, 'Models and aliases.'), ...errorResponses() },
});

export function registerListModels(app: ApiApp, dependencies: ApiDependencies): void {
  app.openapi(route, async (c) => c.json(await listModels(dependencies, { principal: c.var.principal }), 200));
}
