import { createRoute } from '@hono/zod-openapi';
import { IdempotencyHeader } from '../../../contracts/headers.ts';
import { LiftSuspension, Suspension, SuspensionList, SuspensionQuery } from '../../../contracts/suspension.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp } from '../../env.ts';
import { idempotencyOf } from '../../middleware/idempotency.ts';
import { readJsonBody } from '../../middleware/read-json-body.ts';
import { liftTenantSuspension } from '../../operations/lift-suspension.ts';
import { listTenantSuspensions } from '../../operations/list-suspensions.ts';
import { keptAnswer } from '../../respond.ts';
import { errorResponses, jsonBody, jsonResponse } from '../../responses.ts';
import { ADMIN_ROUTE, adminsOnly, MAX_BODY_BYTES, SuspensionParams, TENANT, TenantParams } from './paths.ts';

const SUSPENSIONS = `${TENANT}/suspensions`;

const listRoute = createRoute({
  ...ADMIN_ROUTE,
  operationId: 'admin_list_suspensions',
  summary: 'Which of a tenant’s scopes may submit nothing new, since a job overran its hold',
  method: 'get',
  path: SUSPENSIONS,
  middleware: adminsOnly,
  request: { params: TenantParams, query: SuspensionQuery },
  responses: { 200: jsonResponse(SuspensionList, 'The suspensions, newest first.'), ...errorResponses(404) },
});

const liftRoute = createRoute({
  ...ADMIN_ROUTE,
  operationId: 'admin_lift_suspension',
  summary: 'Let a scope submit again',
  description: 'It stays on record. A suspension that was lifted before stays as it is.',
  method: 'post',
  path: `${SUSPENSIONS}/{suspension_id}/lift`,
  middleware: [adminsOnly, readJsonBody(MAX_BODY_BYTES)] as const,
  request: {
    params: SuspensionParams,
    headers: IdempotencyHeader,
    body: jsonBody(LiftSuspension, { required: true }),
  },
  responses: { 200: jsonResponse(Suspension, 'The suspension, lifted.'), ...errorResponses(404, 409, 413, 415) },
});

export function registerAdminSuspensions(app: ApiApp, dependencies: ApiDependencies): void {
  app.openapi(listRoute, async (c) => {
    const { tenant_id: tenantId } = c.req.valid('param');
    return c.json(await listTenantSuspensions(dependencies, { tenantId, ...c.req.valid('query') }), 200);
  });
  app.openapi(liftRoute, async (c) => {
    const { tenant_id: tenantId, suspension_id: suspensionId } = c.req.valid('param');
    const answer = await liftTenantSuspension(dependencies, {
      principal: c.var.principal,
      tenantId,
      suspensionId,
      reason: c.req.valid('json').reason,
      idempotency: idempotencyOf(c, dependencies.now()),
    });
    return keptAnswer(c, answer, 200);
  });
}
