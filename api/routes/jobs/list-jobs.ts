import { createRoute } from '@hono/zod-openapi';
import { BatchJobList, ListJobsQuery } from '../../../contracts/job.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp } from '../../env.ts';
import { listOwnedJobs } from '../../operations/list-jobs.ts';
import { errorResponses, jsonResponse } from '../../responses.ts';
import { JOB_ROUTE, JOBS, tenantsOnly } from './paths.ts';

const route = createRoute({
  ...JOB_ROUTE,
  operationId: 'list_jobs',
  summary: 'List jobs, newest first',
  description: 'All filters must hold. `metadata[key]=value` filters by metadata and may be repeated with other keys.',
  method: 'get',
  path: JOBS,
  middleware: tenantsOnly,
  request: { query: ListJobsQuery },
  responses: { 200: jsonResponse(BatchJobList, 'A page of jobs.'), ...errorResponses() },
});

export function registerListJobs(app: ApiApp, dependencies: ApiDependencies): void {
  app.openapi(route, async (c) => {
    const page = await listOwnedJobs(dependencies, { principal: c.var.principal, query: c.req.valid('query') });
    return c.json(page, 200);
  });
}
