import { createRoute } from '@hono/zod-openapi';
import { Customer, SuspendAccount } from '../../../contracts/account.ts';
import { Tenant } from '../../../contracts/tenant.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp } from '../../env.ts';
import { readJsonBody } from '../../middleware/read-json-body.ts';
import { resumeCustomer, resumeTenant, suspendCustomer, suspendTenant } from '../../operations/suspend-account.ts';
import { errorResponses, jsonBody, jsonResponse } from '../../responses.ts';
import { ADMIN_ROUTE, adminsOnly, CustomerParams, MAX_BODY_BYTES, TENANT, TenantParams } from './paths.ts';

const CUSTOMER = `${TENANT}/customers/{customer_id}`;
const REFUSED =
  'New jobs, items, submissions, retries and runs of schedules are refused as `tenant_suspended` with the reason, as is a ' +
  'submission that is being judged. What runs goes on and settles; reading, cancelling, deleting and exporting go on. ' +
  'Again with another reason, that one is told from then on.';

const suspendTenantRoute = createRoute({
  ...ADMIN_ROUTE,
  operationId: 'admin_suspend_tenant',
  summary: 'Let a tenant start nothing new',
  description: REFUSED,
  method: 'post',
  path: `${TENANT}/suspend`,
  middleware: [adminsOnly, readJsonBody(MAX_BODY_BYTES)] as const,
  request: { params: TenantParams, body: jsonBody(SuspendAccount, { required: true }) },
  responses: { 200: jsonResponse(Tenant, 'The tenant, suspended.'), ...errorResponses(404, 413, 415) },
});

const resumeTenantRoute = createRoute({
  ...ADMIN_ROUTE,
  operationId: 'admin_resume_tenant',
  summary: 'Let a tenant work again',
  method: 'post',
  path: `${TENANT}/resume`,
  middleware: adminsOnly,
  request: { params: TenantParams },
  responses: { 200: jsonResponse(Tenant, 'The tenant.'), ...errorResponses(404) },
});

const suspendCustomerRoute = createRoute({
  ...ADMIN_ROUTE,
  operationId: 'admin_suspend_customer',
  summary: 'Let a customer of a tenant start nothing new',
  description: `Whichever key of the tenant asks for it. ${REFUSED}`,
  method: 'post',
  path: `${CUSTOMER}/suspend`,
  middleware: [adminsOnly, readJsonBody(MAX_BODY_BYTES)] as const,
  request: { params: CustomerParams, body: jsonBody(SuspendAccount, { required: true }) },
  responses: { 200: jsonResponse(Customer, 'The customer, suspended.'), ...errorResponses(404, 413, 415) },
});

const resumeCustomerRoute = createRoute({
  ...ADMIN_ROUTE,
  operationId: 'admin_resume_customer',
  summary: 'Let a customer of a tenant work again',
  method: 'post',
  path: `${CUSTOMER}/resume`,
  middleware: adminsOnly,
  request: { params: CustomerParams },
  responses: { 200: jsonResponse(Customer, 'The customer.'), ...errorResponses(404) },
});

export function registerAdminAccountSuspensions(app: ApiApp, dependencies: ApiDependencies): void {
  app.openapi(suspendTenantRoute, async (c) => {
    const { tenant_id: tenantId } = c.req.valid('param');
    const request = { principal: c.var.principal, tenantId, ...c.req.valid('json') };
    return c.json(await suspendTenant(dependencies, request), 200);
  });
  app.openapi(resumeTenantRoute, async (c) => {
    const { tenant_id: tenantId } = c.req.valid('param');
    return c.json(await resumeTenant(dependencies, { principal: c.var.principal, tenantId }), 200);
  });
  app.openapi(suspendCustomerRoute, async (c) => {
    const { tenant_id: tenantId, customer_id: customerId } = c.req.valid('param');
    const request = { principal: c.var.principal, tenantId, customerId, ...c.req.valid('json') };
    return c.json(await suspendCustomer(dependencies, request), 200);
  });
  app.openapi(resumeCustomerRoute, async (c) => {
    const { tenant_id: tenantId, customer_id: customerId } = c.req.valid('param');
    return c.json(await resumeCustomer(dependencies, { principal: c.var.principal, tenantId, customerId }), 200);
  });
}
