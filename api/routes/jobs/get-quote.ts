import { createRoute } from '@hono/zod-openapi';
import { JobQuote } from '../../../contracts/quote.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp } from '../../env.ts';
import { getQuote } from '../../operations/get-quote.ts';
import { errorResponses, jsonResponse } from '../../responses.ts';
import { JOB, JOB_ROUTE, JobParams, tenantsOnly } from './paths.ts';

const route = createRoute({
  ...JOB_ROUTE,
  operationId: 'quote',
  summary: 'How the estimate was made',
  method: 'get',
  path: `${JOB}/quote`,
  middleware: tenantsOnly,
  request: { params: JobParams },
  responses: { 200: jsonResponse(JobQuote, 'The quote.'), ...errorResponses(404) },
});

export function registerGetQuote(app: ApiApp, dependencies: ApiDependencies): void {
  app.openapi(route, async (c) => {
    const { job_id: jobId } = c.req.valid('param');
    return c.json(await getQuote(dependencies, { principal: c.var.principal, jobId }), 200);
  });
}
