import { createRoute, z } from '@hono/zod-openapi';
import { CreateCustomer, Customer, CustomerList, RenameAccount } from '../../../contracts/account.ts';
import { IdempotencyHeader } from '../../../contracts/headers.ts';
import { PageQuery } from '../../../contracts/pagination.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp } from '../../env.ts';
import { idempotencyOf } from '../../middleware/idempotency.ts';
import { readJsonBody } from '../../middleware/read-json-body.ts';
import { createCustomer, getCustomer, listTenantCustomers, updateCustomer } from '../../operations/customers.ts';
import { keptAnswer } from '../../respond.ts';
import { errorResponses, jsonBody, jsonResponse } from '../../responses.ts';
import { ADMIN_ROUTE, adminsOnly, CustomerParams, MAX_BODY_BYTES, TENANT, TenantParams } from './paths.ts';

const CUSTOMERS = `${TENANT}/customers`;
const CUSTOMER = `${CUSTOMERS}/{customer_id}`;

const addRoute = createRoute({
  ...ADMIN_ROUTE,
  operationId: 'admin_create_customer',
  summary: 'Make a customer of a tenant',
  description: 'Jobs, keys and budgets can be of it.',
  method: 'post',
  path: CUSTOMERS,
  middleware: [adminsOnly, readJsonBody(MAX_BODY_BYTES)] as const,
  request: {
    params: TenantParams,
    headers: IdempotencyHeader,
    body: jsonBody(CreateCustomer, { required: true }),
  },
  responses: { 201: jsonResponse(Customer, 'The customer.'), ...errorResponses(404, 409, 413, 415) },
});

const listRoute = createRoute({
  ...ADMIN_ROUTE,
  operationId: 'admin_list_customers',
  summary: 'A tenant’s customers, by id',
  method: 'get',
  path: CUSTOMERS,
  middleware: adminsOnly,
  request: { params: TenantParams, query: z.strictObject(PageQuery) },
  responses: { 200: jsonResponse(CustomerList, 'The customers.'), ...errorResponses(404) },
});

const getRoute = createRoute({
  ...ADMIN_ROUTE,
  operationId: 'admin_get_customer',
  summary: 'A customer of a tenant',
  method: 'get',
  path: CUSTOMER,
  middleware: adminsOnly,
  request: { params: CustomerParams },
  responses: { 200: jsonResponse(Customer, 'The customer.'), ...errorResponses(404) },
});

const updateRoute = createRoute({
  ...ADMIN_ROUTE,
  operationId: 'admin_update_customer',
  summary: 'Rename a customer',
  method: 'patch',
  path: CUSTOMER,
  middleware: [adminsOnly, readJsonBody(MAX_BODY_BYTES)] as const,
  request: { params: CustomerParams, body: jsonBody(RenameAccount, { required: true }) },
  responses: { 200: jsonResponse(Customer, 'The customer as it is now.'), ...errorResponses(404, 413, 415) },
});

export function registerAdminCustomers(app: ApiApp, dependencies: ApiDependencies): void {
  app.openapi(addRoute, async (c) => {
    const answer = await createCustomer(dependencies, {
      principal: c.var.principal,
      tenantId: c.req.valid('param').tenant_id,
      wanted: c.req.valid('json'),
      idempotency: idempotencyOf(c, dependencies.now()),
    });
    return keptAnswer(c, answer, 201);
  });
  app.openapi(listRoute, async (c) => {
    const { tenant_id: tenantId } = c.req.valid('param');
    return c.json(await listTenantCustomers(dependencies, { tenantId, ...c.req.valid('query') }), 200);
  });
  app.openapi(getRoute, async (c) => {
    const { tenant_id: tenantId, customer_id: customerId } = c.req.valid('param');
    return c.json(await getCustomer(dependencies, { tenantId, customerId }), 200);
  });
  app.openapi(updateRoute, async (c) => {
    const { tenant_id: tenantId, customer_id: customerId } = c.req.valid('param');
    const request = { principal: c.var.principal, tenantId, customerId, change: c.req.valid('json') };
    return c.json(await updateCustomer(dependencies, request), 200);
  });
}
