import { createRoute } from '@hono/zod-openapi';
import { Validation } from '../../../contracts/validation.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp } from '../../env.ts';
import { validateJob } from '../../operations/validate-job.ts';
import { errorResponses, jsonResponse } from '../../responses.ts';
import { JOB, JOB_ROUTE, JobParams, tenantsOnly } from './paths.ts';

const route = createRoute({
  ...JOB_ROUTE,
  operationId: 'validate',
  summary: 'Dry run of a submit',
  description: 'Finds what a submit would refuse, and what it would cost. Changes and holds nothing.',
  method: 'post',
  path: `${JOB}/validate`,
  middleware: tenantsOnly,
  request: { params: JobParams },
  responses: { 200: jsonResponse(Validation, 'The findings.'), ...errorResponses(404, 409) },
});

export function registerValidateJob(app: ApiApp, dependencies: ApiDependencies): void {
  app.openapi(route, async (c) => {
    const { job_id: jobId } = c.req.valid('param');
    return c.json(await validateJob(dependencies, { principal: c.var.principal, jobId }), 200);
  });
}
