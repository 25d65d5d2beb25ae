import { createRoute } from '@hono/zod-openapi';
import { ResultLines, ResultPage, ResultQuery } from '../../../contracts/result-row.ts';
import { prefersNdjson } from '../../accepts.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp } from '../../env.ts';
import { listResultPage, openResultStream } from '../../operations/list-results.ts';
import { jsonText, streamText } from '../../respond.ts';
import { errorResponses } from '../../responses.ts';
import { JOB, JOB_ROUTE, JobParams, tenantsOnly } from './paths.ts';

const route = createRoute({
  ...JOB_ROUTE,
  operationId: 'list_results',
  summary: 'Settled items',
  description:
    'In the order of settlement, so that a cursor can follow a running job and skip nothing. With `Accept: ' +
    'application/x-ndjson` all that has settled so far is sent as one stream; `limit` then means nothing.',
  method: 'get',
  path: `${JOB}/results`,
  middleware: tenantsOnly,
  request: { params: JobParams, query: ResultQuery },
  responses: {
    200: {
      description: 'A page of result rows, or all of them.',
      content: { 'application/json': { schema: ResultPage }, 'application/x-ndjson': { schema: ResultLines } },
    },
    ...errorResponses(404, 410),
  },
});

export function registerListResults(app: ApiApp, dependencies: ApiDependencies): void {
  app.openapi(route, async (c) => {
    const request = { principal: c.var.principal, jobId: c.req.valid('param').job_id, query: c.req.valid('query') };
    if (!prefersNdjson(c)) return jsonText(c, await listResultPage(dependencies, request), 200);
    const pieces = await openResultStream(dependencies, request);
    return streamText(c, pieces, { 'Content-Type': 'application/x-ndjson' });
  });
}
