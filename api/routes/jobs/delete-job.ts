import { createRoute } from '@hono/zod-openapi';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp } from '../../env.ts';
import { deleteJob } from '../../operations/delete-job.ts';
import { errorResponses } from '../../responses.ts';
import { JOB, JOB_ROUTE, JobParams, tenantsOnly } from './paths.ts';

const route = createRoute({
  ...JOB_ROUTE,
  operationId: 'delete',
  summary: 'Delete a draft, or the content of an ended job',
  description: 'A draft vanishes. An ended job loses requests and results now and keeps its accounts.',
  method: 'delete',
  path: JOB,
  middleware: tenantsOnly,
  request: { params: JobParams },
  responses: { 204: { description: 'Deleted.' }, ...errorResponses(404, 409) },
});

export function registerDeleteJob(app: ApiApp, dependencies: ApiDependencies): void {
  app.openapi(route, async (c) => {
    const { job_id: jobId } = c.req.valid('param');
    await deleteJob(dependencies, { principal: c.var.principal, jobId });
    return c.body(null, 204);
  });
}
