import { createRoute } from '@hono/zod-openapi';
import { CreateJob } from '../../../contracts/create-job.ts';
import { IdempotencyHeader } from '../../../contracts/headers.ts';
import { BatchJob } from '../../../contracts/job.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp } from '../../env.ts';
import { idempotencyOf } from '../../middleware/idempotency.ts';
import { readJsonBody } from '../../middleware/read-json-body.ts';
import { createJob } from '../../operations/create-job.ts';
import { keptAnswer } from '../../respond.ts';
import { errorResponses, jsonBody, jsonResponse } from '../../responses.ts';
import { JOB_ROUTE, JOBS, tenantsOnly } from './paths.ts';

const MAX_BODY_BYTES = 4 * 1024 * 1024;

const route = createRoute({
  ...JOB_ROUTE,
  operationId: 'create_job',
  summary: 'Create a draft',
  method: 'post',
  path: JOBS,
  middleware: [tenantsOnly, readJsonBody(MAX_BODY_BYTES)] as const,
  request: { headers: IdempotencyHeader, body: jsonBody(CreateJob, { required: true }) },
  responses: { 201: jsonResponse(BatchJob, 'The draft.'), ...errorResponses(404, 409, 413, 415, 422) },
});

export function registerCreateJob(app: ApiApp, dependencies: ApiDependencies): void {
  app.openapi(route, async (c) => {
    const answer = await createJob(dependencies, {
      principal: c.var.principal,
      job: c.req.valid('json'),
      idempotency: idempotencyOf(c, dependencies.now()),
    });
    return keptAnswer(c, answer, 201);
  });
}
