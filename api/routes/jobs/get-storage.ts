import { createRoute } from '@hono/zod-openapi';
import { JobStorage } from '../../../contracts/job-storage.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp } from '../../env.ts';
import { getStorage } from '../../operations/get-storage.ts';
import { errorResponses, jsonResponse } from '../../responses.ts';
import { JOB, JOB_ROUTE, JobParams, tenantsOnly } from './paths.ts';

const route = createRoute({
  ...JOB_ROUTE,
  operationId: 'storage',
  summary: 'What is kept where, and until when',
  method: 'get',
  path: `${JOB}/storage`,
  middleware: tenantsOnly,
  request: { params: JobParams },
  responses: { 200: jsonResponse(JobStorage, 'The storage.'), ...errorResponses(404) },
});

export function registerGetStorage(app: ApiApp, dependencies: ApiDependencies): void {
  app.openapi(route, async (c) => {
    const { job_id: jobId } = c.req.valid('param');
    return c.json(await getStorage(dependencies, { principal: c.var.principal, jobId }), 200);
  });
}
