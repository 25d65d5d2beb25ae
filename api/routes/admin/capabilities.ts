import { createRoute } from '@hono/zod-openapi';
import { CapabilityOverride, CapabilityOverrideList, NewCapability } from '../../../contracts/capability-override.ts';
import { IdempotencyHeader } from '../../../contracts/headers.ts';
import { OverrideQuery } from '../../../contracts/override.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp } from '../../env.ts';
import { idempotencyOf } from '../../middleware/idempotency.ts';
import { readJsonBody } from '../../middleware/read-json-body.ts';
import { addCapabilityOverride } from '../../operations/add-capability-override.ts';
import { listOverriddenCapabilities } from '../../operations/list-capability-overrides.ts';
import { withdrawCapability } from '../../operations/withdraw-override.ts';
import { keptAnswer } from '../../respond.ts';
import { errorResponses, jsonBody, jsonResponse } from '../../responses.ts';
import { ADMIN_ROUTE, adminsOnly, CAPABILITIES, MAX_BODY_BYTES, OverrideParams } from './paths.ts';

const listRoute = createRoute({
  ...ADMIN_ROUTE,
  operationId: 'admin_list_capabilities',
  summary: 'What admins said of models in batch mode',
  method: 'get',
  path: CAPABILITIES,
  middleware: adminsOnly,
  request: { query: OverrideQuery },
  responses: { 200: jsonResponse(CapabilityOverrideList, 'The overrides.'), ...errorResponses() },
});

const addRoute = createRoute({
  ...ADMIN_ROUTE,
  operationId: 'admin_add_capability',
  summary: 'Say what models may or may not do in batch mode',
  description:
    'Wins over the gateway’s own matrix from the next verdict on. A tenant’s own wins over one for all, else the newer one.',
  method: 'post',
  path: CAPABILITIES,
  middleware: [adminsOnly, readJsonBody(MAX_BODY_BYTES)] as const,
  request: { headers: IdempotencyHeader, body: jsonBody(NewCapability, { required: true }) },
  responses: { 201: jsonResponse(CapabilityOverride, 'The override.'), ...errorResponses(404, 409, 413, 415) },
});

const withdrawRoute = createRoute({
  ...ADMIN_ROUTE,
  operationId: 'admin_withdraw_capability',
  summary: 'Withdraw what was said of models',
  description: 'It stays on record; the gateway’s own matrix holds again from the next verdict on.',
  method: 'delete',
  path: `${CAPABILITIES}/{override_id}`,
  middleware: adminsOnly,
  request: { params: OverrideParams },
  responses: { 200: jsonResponse(CapabilityOverride, 'The override, withdrawn.'), ...errorResponses(404) },
});

export function registerAdminCapabilities(app: ApiApp, dependencies: ApiDependencies): void {
  app.openapi(listRoute, async (c) => {
    return c.json(await listOverriddenCapabilities(dependencies, c.req.valid('query')), 200);
  });
  app.openapi(addRoute, async (c) => {
    const answer = await addCapabilityOverride(dependencies, {
      principal: c.var.principal,
      capability: c.req.valid('json'),
      idempotency: idempotencyOf(c, dependencies.now()),
    });
    return keptAnswer(c, answer, 201);
  });
  app.openapi(withdrawRoute, async (c) => {
    const { override_id: overrideId } = c.req.valid('param');
    return c.json(await withdrawCapability(dependencies, { principal: c.var.principal, overrideId }), 200);
  });
}
