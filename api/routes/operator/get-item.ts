import { createRoute, z } from '@hono/zod-openapi';
import { OperatorItem } from '../../../contracts/operator-item.ts';
import { ItemQuery } from '../../../contracts/result-row.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp } from '../../env.ts';
import { getOperatorItem } from '../../operations/get-operator-item.ts';
import { errorResponses, jsonResponse } from '../../responses.ts';
import { JobParams } from '../jobs/paths.ts';
import { OPERATOR_ROUTE, operatorsOnly } from './paths.ts';

const ITEMS = '/v1/operator/jobs/{job_id}/items';

const SHARED = {
  ...OPERATOR_ROUTE,
  method: 'get',
  middleware: operatorsOnly,
  responses: { 200: jsonResponse(OperatorItem, 'The item.'), ...errorResponses(404) },
} as const;

const byPath = createRoute({
  ...SHARED,
  operationId: 'operator_get_item',
  summary: 'An item as its provider knows it',
  path: `${ITEMS}/{custom_id}`,
  request: { params: JobParams.extend({ custom_id: z.string() }) },
});

const byQuery = createRoute({
  ...SHARED,
  operationId: 'operator_get_item_by_query',
  summary: 'An item as its provider knows it, by query',
  description: 'For custom ids that a path cannot carry: URL parsers resolve `..`.',
  path: ITEMS,
  request: { params: JobParams, query: ItemQuery },
});

export function registerOperatorGetItem(app: ApiApp, dependencies: ApiDependencies): void {
  app.openapi(byPath, async (c) => {
    const { job_id: jobId, custom_id: customId } = c.req.valid('param');
    return c.json(await getOperatorItem(dependencies, { jobId, customId }), 200);
  });
  app.openapi(byQuery, async (c) => {
    const { job_id: jobId } = c.req.valid('param');
    const { custom_id: customId } = c.req.valid('query');
    return c.json(await getOperatorItem(dependencies, { jobId, customId }), 200);
  });
}
