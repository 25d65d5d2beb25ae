import { createRoute, z } from '@hono/zod-openapi';
import type { MiddlewareHandler } from 'hono';
import { IdempotencyHeader } from '../../../contracts/headers.ts';
import { ItemRefund, RefundItem } from '../../../contracts/refund.ts';
import { ItemQuery } from '../../../contracts/result-row.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp, ApiContext, ApiEnv } from '../../env.ts';
import { idempotencyOf } from '../../middleware/idempotency.ts';
import { readJsonBody } from '../../middleware/read-json-body.ts';
import { refundJobItem } from '../../operations/refund-item.ts';
import { keptAnswer } from '../../respond.ts';
import { errorResponses, jsonBody, jsonResponse } from '../../responses.ts';
import { JobParams } from '../jobs/paths.ts';
import { OPERATOR_ROUTE, operatorsOnly } from './paths.ts';

const MAX_BODY_BYTES = 64 * 1024;
const ITEMS = '/v1/operator/jobs/{job_id}/items';

const takeRefund: MiddlewareHandler<ApiEnv>[] = [operatorsOnly, readJsonBody(MAX_BODY_BYTES)];

const SHARED = {
  ...OPERATOR_ROUTE,
  method: 'post',
  middleware: takeRefund,
  responses: { 200: jsonResponse(ItemRefund, 'The refund.'), ...errorResponses(404, 409, 413, 415) },
} as const;
const BODY = { headers: IdempotencyHeader, body: jsonBody(RefundItem, { required: true }) };

const byPath = createRoute({
  ...SHARED,
  operationId: 'operator_refund_item',
  summary: 'Give back what an item was charged',
  description:
    'Once for an item, whole or in part; the same refund again answers the first and changes nothing. The job, its budgets ' +
    'and usage exports count what is left.',
  path: `${ITEMS}/{custom_id}/refund`,
  request: { params: JobParams.extend({ custom_id: z.string() }), ...BODY },
});

const byQuery = createRoute({
  ...SHARED,
  operationId: 'operator_refund_item_by_query',
  summary: 'Give back what an item was charged, by query',
  description: 'For custom ids that a path cannot carry: URL parsers resolve `..`.',
  path: `${ITEMS}/refund`,
  request: { params: JobParams, query: ItemQuery, ...BODY },
});

export function registerOperatorRefundItem(app: ApiApp, dependencies: ApiDependencies): void {
  const refund = (c: ApiContext, jobId: string, customId: string, body: RefundItem) =>
    refundJobItem(dependencies, {
      principal: c.var.principal,
      jobId,
      customId,
      refund: body,
      idempotency: idempotencyOf(c, dependencies.now()),
    });
  app.openapi(byPath, async (c) => {
    const { job_id: jobId, custom_id: customId } = c.req.valid('param');
    return keptAnswer(c, await refund(c, jobId, customId, c.req.valid('json')), 200);
  });
  app.openapi(byQuery, async (c) => {
    const { job_id: jobId } = c.req.valid('param');
    const { custom_id: customId } = c.req.valid('query');
    return keptAnswer(c, await refund(c, jobId, customId, c.req.valid('json')), 200);
  });
}
