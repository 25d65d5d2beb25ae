import { createRoute } from '@hono/zod-openapi';
import { CapabilityList } from '../../../contracts/capability.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp } from '../../env.ts';
import { allow, TENANT_ROLES } from '../../middleware/allow.ts';
import { listCapabilities } from '../../operations/list-capabilities.ts';
import { errorResponses, jsonResponse } from '../../responses.ts';
import { MODELS_ROUTE } from './paths.ts';

const route = createRoute({
  ...MODELS_ROUTE,
  operationId: 'list_capabilities',
  summary: 'What each provider’s batch mode can do',
  method: 'get',
  path: '/v1/capabilities',
  middleware: allow({ roles: TENANT_ROLES, scope: 'models:read' }),
  responses: { 200: jsonResponse(CapabilityList, 'The capability matrix.'), ...errorResponses() },
});

export function registerListCapabilities(app: ApiApp, dependencies: ApiDependencies): void {
  app.openapi(route, async (c) => c.json(await listCapabilities(dependencies, { principal: c.var.principal }), 200));
}
