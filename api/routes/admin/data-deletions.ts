import { createRoute, z } from '@hono/zod-openapi';
import { DataDeletion, DataDeletionList, RequestDeletion } from '../../../contracts/data-deletion.ts';
import { IdempotencyHeader } from '../../../contracts/headers.ts';
import { PageQuery } from '../../../contracts/pagination.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp } from '../../env.ts';
import { idempotencyOf } from '../../middleware/idempotency.ts';
import { readJsonBody } from '../../middleware/read-json-body.ts';
import { getDeletion, listDeletions, requestDeletion } from '../../operations/data-deletions.ts';
import { keptAnswer } from '../../respond.ts';
import { errorResponses, jsonBody, jsonResponse } from '../../responses.ts';
import { ADMIN_ROUTE, adminsOnly, CustomerParams, DeletionParams, MAX_BODY_BYTES, TENANT } from './paths.ts';

const CUSTOMER = `${TENANT}/customers/{customer_id}`;

const requestRoute = createRoute({
  ...ADMIN_ROUTE,
  operationId: 'admin_delete_customer_data',
  summary: 'Delete all content of a customer',
  description:
    'Of the jobs that there are now: requests, results, artifacts, and files at providers. Jobs that run are deleted after ' +
    'their end, held ones once their hold is lifted; jobs made later are not touched, so suspend the customer first. Accounts ' +
    'and hashes stay. Nothing brings it back.',
  method: 'post',
  path: `${CUSTOMER}/delete-data`,
  middleware: [adminsOnly, readJsonBody(MAX_BODY_BYTES)] as const,
  request: { params: CustomerParams, headers: IdempotencyHeader, body: jsonBody(RequestDeletion, { required: true }) },
  responses: { 202: jsonResponse(DataDeletion, 'It is noted, and begins.'), ...errorResponses(404, 409, 413, 415) },
});

const listRoute = createRoute({
  ...ADMIN_ROUTE,
  operationId: 'admin_list_data_deletions',
  summary: 'Deletions of a customer’s data, by id',
  method: 'get',
  path: `${CUSTOMER}/data-deletions`,
  middleware: adminsOnly,
  request: { params: CustomerParams, query: z.strictObject(PageQuery) },
  responses: { 200: jsonResponse(DataDeletionList, 'The deletions.'), ...errorResponses(404) },
});

const getRoute = createRoute({
  ...ADMIN_ROUTE,
  operationId: 'admin_get_data_deletion',
  summary: 'How far a deletion of a customer’s data is',
  method: 'get',
  path: `${CUSTOMER}/data-deletions/{deletion_id}`,
  middleware: adminsOnly,
  request: { params: DeletionParams },
  responses: { 200: jsonResponse(DataDeletion, 'The report.'), ...errorResponses(404) },
});

export function registerAdminDataDeletions(app: ApiApp, dependencies: ApiDependencies): void {
  app.openapi(requestRoute, async (c) => {
    const { tenant_id: tenantId, customer_id: customerId } = c.req.valid('param');
    const idempotency = idempotencyOf(c, dependencies.now());
    const request = { principal: c.var.principal, tenantId, customerId, ...c.req.valid('json'), idempotency };
    return keptAnswer(c, await requestDeletion(dependencies, request), 202);
  });
  app.openapi(listRoute, async (c) => {
    const { tenant_id: tenantId, customer_id: customerId } = c.req.valid('param');
    return c.json(await listDeletions(dependencies, { tenantId, customerId, ...c.req.valid('query') }), 200);
  });
  app.openapi(getRoute, async (c) => {
    const { tenant_id: tenantId, customer_id: customerId, deletion_id: deletionId } = c.req.valid('param');
    return c.json(await getDeletion(dependencies, { tenantId, customerId, deletionId }), 200);
  });
}
