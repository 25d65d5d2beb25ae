import { createRoute } from '@hono/zod-openapi';
import { IdempotencyHeader } from '../../../contracts/headers.ts';
import { LegalHold, LegalHoldList, LegalHoldQuery, SetLegalHold } from '../../../contracts/legal-hold.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp } from '../../env.ts';
import { idempotencyOf } from '../../middleware/idempotency.ts';
import { readJsonBody } from '../../middleware/read-json-body.ts';
import { listTenantHolds, releaseHold, setHold } from '../../operations/legal-holds.ts';
import { keptAnswer } from '../../respond.ts';
import { errorResponses, jsonBody, jsonResponse } from '../../responses.ts';
import { ADMIN_ROUTE, adminsOnly, HoldParams, MAX_BODY_BYTES, TENANT, TenantParams } from './paths.ts';

const HOLDS = `${TENANT}/legal-holds`;

const setRoute = createRoute({
  ...ADMIN_ROUTE,
  operationId: 'admin_set_legal_hold',
  summary: 'Keep content from being deleted',
  description:
    'Of a job, of a customer’s jobs, or of all of the tenant: neither its deadline nor a DELETE nor a deletion of the customer’s ' +
    'data takes it while the hold stands. What was deleted before stays so. Several may stand at once.',
  method: 'post',
  path: HOLDS,
  middleware: [adminsOnly, readJsonBody(MAX_BODY_BYTES)] as const,
  request: { params: TenantParams, headers: IdempotencyHeader, body: jsonBody(SetLegalHold, { required: true }) },
  responses: { 201: jsonResponse(LegalHold, 'The hold.'), ...errorResponses(404, 409, 413, 415) },
});

const listRoute = createRoute({
  ...ADMIN_ROUTE,
  operationId: 'admin_list_legal_holds',
  summary: 'A tenant’s legal holds, by id',
  method: 'get',
  path: HOLDS,
  middleware: adminsOnly,
  request: { params: TenantParams, query: LegalHoldQuery },
  responses: { 200: jsonResponse(LegalHoldList, 'The holds.'), ...errorResponses(404) },
});

const liftRoute = createRoute({
  ...ADMIN_ROUTE,
  operationId: 'admin_lift_legal_hold',
  summary: 'Lift a legal hold',
  description:
    'What it alone kept is deleted when that is due, or was asked for meanwhile by a deletion of a customer’s data.',
  method: 'delete',
  path: `${HOLDS}/{hold_id}`,
  middleware: adminsOnly,
  request: { params: HoldParams },
  responses: { 200: jsonResponse(LegalHold, 'The hold as it is now.'), ...errorResponses(404) },
});

export function registerAdminLegalHolds(app: ApiApp, dependencies: ApiDependencies): void {
  app.openapi(setRoute, async (c) => {
    const answer = await setHold(dependencies, {
      principal: c.var.principal,
      tenantId: c.req.valid('param').tenant_id,
      wanted: c.req.valid('json'),
      idempotency: idempotencyOf(c, dependencies.now()),
    });
    return keptAnswer(c, answer, 201);
  });
  app.openapi(listRoute, async (c) => {
    const { tenant_id: tenantId } = c.req.valid('param');
    return c.json(await listTenantHolds(dependencies, { tenantId, ...c.req.valid('query') }), 200);
  });
  app.openapi(liftRoute, async (c) => {
    const { tenant_id: tenantId, hold_id: holdId } = c.req.valid('param');
    return c.json(await releaseHold(dependencies, { principal: c.var.principal, tenantId, holdId }), 200);
  });
}
