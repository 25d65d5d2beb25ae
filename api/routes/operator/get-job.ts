import { createRoute } from '@hono/zod-openapi';
import { OperatorJob } from '../../../contracts/operator-job.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp } from '../../env.ts';
import { getOperatorJob } from '../../operations/get-operator-job.ts';
import { errorResponses, jsonResponse } from '../../responses.ts';
import { JobParams } from '../jobs/paths.ts';
import { OPERATOR_ROUTE, operatorsOnly } from './paths.ts';

const route = createRoute({
  ...OPERATOR_ROUTE,
  operationId: 'operator_get_job',
  summary: 'A job with its provider batches, in the providers’ own words',
  method: 'get',
  path: '/v1/operator/jobs/{job_id}',
  middleware: operatorsOnly,
  request: { params: JobParams },
  responses: { 200: jsonResponse(OperatorJob, 'The job.'), ...errorResponses(404) },
});

export function registerOperatorGetJob(app: ApiApp, dependencies: ApiDependencies): void {
  app.openapi(route, async (c) => c.json(await getOperatorJob(dependencies, c.req.valid('param').job_id), 200));
}
