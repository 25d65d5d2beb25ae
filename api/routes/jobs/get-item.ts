import { createRoute, z } from '@hono/zod-openapi';
import { ItemDetail, ItemQuery } from '../../../contracts/result-row.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp } from '../../env.ts';
import { getItem } from '../../operations/get-item.ts';
import { jsonText } from '../../respond.ts';
import { errorResponses, jsonResponse } from '../../responses.ts';
import { JOB, JOB_ROUTE, JobParams, tenantsOnly } from './paths.ts';

const SHARED = {
  ...JOB_ROUTE,
  method: 'get',
  middleware: tenantsOnly,
  responses: { 200: jsonResponse(ItemDetail, 'The item.'), ...errorResponses(404, 410) },
} as const;

const byPath = createRoute({
  ...SHARED,
  operationId: 'get_item',
  summary: 'One item',
  path: `${JOB}/items/{custom_id}`,
  request: { params: JobParams.extend({ custom_id: z.string() }) },
});

const byQuery = createRoute({
  ...SHARED,
  operationId: 'get_item_by_query',
  summary: 'One item, by query',
  description: 'For custom ids that a path cannot carry: URL parsers resolve `..`.',
  path: `${JOB}/items`,
  request: { params: JobParams, query: ItemQuery },
});

export function registerGetItem(app: ApiApp, dependencies: ApiDependencies): void {
  app.openapi(byPath, async (c) => {
    const { job_id: jobId, custom_id: customId } = c.req.valid('param');
    return jsonText(c, await getItem(dependencies, { principal: c.var.principal, jobId, customId }), 200);
  });
  app.openapi(byQuery, async (c) => {
    const { job_id: jobId } = c.req.valid('param');
    const { custom_id: customId } = c.req.valid('query');
    return jsonText(c, await getItem(dependencies, { principal: c.var.principal, jobId, customId }), 200);
  });
}
