import { createRoute } from '@hono/zod-openapi';
import { BatchJob } from '../../../contracts/job.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp } from '../../env.ts';
import { getOwnedJob } from '../../operations/owned-job.ts';
import { presentJob } from '../../presentation/job.ts';
import { errorResponses, jsonResponse } from '../../responses.ts';
import { JOB, JOB_ROUTE, JobParams, tenantsOnly } from './paths.ts';

const route = createRoute({
  ...JOB_ROUTE,
  operationId: 'get_status',
  summary: 'Where a job stands',
  method: 'get',
  path: JOB,
  middleware: tenantsOnly,
  request: { params: JobParams },
  responses: { 200: jsonResponse(BatchJob, 'The job.'), ...errorResponses(404) },
});

export function registerGetStatus(app: ApiApp, dependencies: ApiDependencies): void {
  app.openapi(route, async (c) => {
    const { job_id: jobId } = c.req.valid('param');
    return c.json(presentJob(await getOwnedJob(dependencies, { principal: c.var.principal, jobId })), 200);
  });
}
