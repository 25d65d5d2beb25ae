import { createRoute, z } from '@hono/zod-openapi';
import { CustomerId, CustomerPricing, SetCustomerPricing } from '../../../contracts/customer-pricing.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp } from '../../env.ts';
import { readJsonBody } from '../../middleware/read-json-body.ts';
import { getCustomerPricing, replaceCustomerPricing } from '../../operations/customer-prices.ts';
import { errorResponses, jsonBody, jsonResponse } from '../../responses.ts';
import { ADMIN_ROUTE, adminsOnly, MAX_BODY_BYTES, TENANT, TenantParams } from './paths.ts';

const PRICING = `${TENANT}/customers/{customer_id}/pricing`;
const CustomerParams = TenantParams.extend({ customer_id: z.string().pipe(CustomerId) });

const getPricingRoute = createRoute({
  ...ADMIN_ROUTE,
  operationId: 'admin_get_customer_pricing',
  summary: 'What a partner’s customer is sold at',
  method: 'get',
  path: PRICING,
  middleware: adminsOnly,
  request: { params: CustomerParams },
  responses: { 200: jsonResponse(CustomerPricing, 'The pricing.'), ...errorResponses(404) },
});

const setPricingRoute = createRoute({
  ...ADMIN_ROUTE,
  operationId: 'admin_set_customer_pricing',
  summary: 'Set what a partner’s customer is sold at',
  description:
    'By its own price list where that has the model, else at the tenant’s cost and a markup. Wherever the customer’s own key ' +
    'reads money it reads these prices, and never what the tenant pays. Replaces what was set before; jobs that were accepted ' +
    'keep the pricing of their submission.',
  method: 'put',
  path: PRICING,
  middleware: [adminsOnly, readJsonBody(MAX_BODY_BYTES)] as const,
  request: { params: CustomerParams, body: jsonBody(SetCustomerPricing, { required: true }) },
  responses: { 200: jsonResponse(CustomerPricing, 'The pricing as it is now.'), ...errorResponses(404, 413, 415) },
});

export function registerAdminCustomerPricing(app: ApiApp, dependencies: ApiDependencies): void {
  app.openapi(getPricingRoute, async (c) => {
    const { tenant_id: tenantId, customer_id: customerId } = c.req.valid('param');
    return c.json(await getCustomerPricing(dependencies, { tenantId, customerId }), 200);
  });
  app.openapi(setPricingRoute, async (c) => {
    const { tenant_id: tenantId, customer_id: customerId } = c.req.valid('param');
    const wanted = c.req.valid('json');
    const request = { customer: { tenantId, customerId }, principal: c.var.principal, wanted };
    return c.json(await replaceCustomerPricing(dependencies, request), 200);
  });
}
