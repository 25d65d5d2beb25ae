import { createRoute } from '@hono/zod-openapi';
import { IdempotencyHeader } from '../../../contracts/headers.ts';
import { OverrideQuery } from '../../../contracts/override.ts';
import { NewPrice, PriceOverride, PriceOverrideList } from '../../../contracts/price-override.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp } from '../../env.ts';
import { idempotencyOf } from '../../middleware/idempotency.ts';
import { readJsonBody } from '../../middleware/read-json-body.ts';
import { addPrice } from '../../operations/add-price.ts';
import { listPrices } from '../../operations/list-prices.ts';
import { withdrawPrice } from '../../operations/withdraw-override.ts';
import { keptAnswer } from '../../respond.ts';
import { errorResponses, jsonBody, jsonResponse } from '../../responses.ts';
import { ADMIN_ROUTE, adminsOnly, MAX_BODY_BYTES, OverrideParams, PRICES } from './paths.ts';

const listRoute = createRoute({
  ...ADMIN_ROUTE,
  operationId: 'admin_list_prices',
  summary: 'Prices that admins set, beside the published ones',
  method: 'get',
  path: PRICES,
  middleware: adminsOnly,
  request: { query: OverrideQuery },
  responses: { 200: jsonResponse(PriceOverrideList, 'The prices.'), ...errorResponses() },
});

const addRoute = createRoute({
  ...ADMIN_ROUTE,
  operationId: 'admin_add_price',
  summary: 'Set what a model costs, for one tenant or for all',
  description:
    'From its first day on it wins over the published price of the model, and a tenant’s own over one for all. Jobs that ' +
    'were accepted keep the price they were held at.',
  method: 'post',
  path: PRICES,
  middleware: [adminsOnly, readJsonBody(MAX_BODY_BYTES)] as const,
  request: { headers: IdempotencyHeader, body: jsonBody(NewPrice, { required: true }) },
  responses: { 201: jsonResponse(PriceOverride, 'The price.'), ...errorResponses(404, 409, 413, 415) },
});

const withdrawRoute = createRoute({
  ...ADMIN_ROUTE,
  operationId: 'admin_withdraw_price',
  summary: 'Withdraw a price',
  description: 'It stays on record. Jobs that were accepted keep it.',
  method: 'delete',
  path: `${PRICES}/{override_id}`,
  middleware: adminsOnly,
  request: { params: OverrideParams },
  responses: { 200: jsonResponse(PriceOverride, 'The price, withdrawn.'), ...errorResponses(404) },
});

export function registerAdminPrices(app: ApiApp, dependencies: ApiDependencies): void {
  app.openapi(listRoute, async (c) => c.json(await listPrices(dependencies, c.req.valid('query')), 200));
  app.openapi(addRoute, async (c) => {
    const answer = await addPrice(dependencies, {
      principal: c.var.principal,
      price: c.req.valid('json'),
      idempotency: idempotencyOf(c, dependencies.now()),
    });
    return keptAnswer(c, answer, 201);
  });
  app.openapi(withdrawRoute, async (c) => {
    const { override_id: overrideId } = c.req.valid('param');
    return c.json(await withdrawPrice(dependencies, { principal: c.var.principal, overrideId }), 200);
  });
}
