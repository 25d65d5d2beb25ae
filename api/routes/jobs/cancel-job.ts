import { createRoute } from '@hono/zod-openapi';
import { CancelJob } from '../../../contracts/cancel-job.ts';
import { IdempotencyHeader } from '../../../contracts/headers.ts';
import { BatchJob } from '../../../contracts/job.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp } from '../../env.ts';
import { idempotencyOf } from '../../middleware/idempotency.ts';
import { readJsonBody } from '../../middleware/read-json-body.ts';
import { cancelJob } from '../../operations/cancel-job.ts';
import { keptAnswer } from '../../respond.ts';
import { errorResponses, jsonBody, jsonResponse } from '../../responses.ts';
import { JOB, JOB_ROUTE, JobParams, tenantsOnly } from './paths.ts';

const MAX_BODY_BYTES = 64 * 1024;

const route = createRoute({
  ...JOB_ROUTE,
  operationId: 'cancel',
  summary: 'Ask for a job to be cancelled',
  description:
    'A request, not a promise: what the provider has finished is kept and charged. A draft is cancelled at once.',
  method: 'post',
  path: `${JOB}/cancel`,
  middleware: [tenantsOnly, readJsonBody(MAX_BODY_BYTES)] as const,
  request: { params: JobParams, headers: IdempotencyHeader, body: jsonBody(CancelJob, { required: false }) },
  responses: {
    200: jsonResponse(BatchJob, 'The job has ended.'),
    202: jsonResponse(BatchJob, 'Asked for; billable work has still to settle.'),
    ...errorResponses(404, 409, 413, 415),
  },
});

export function registerCancelJob(app: ApiApp, dependencies: ApiDependencies): void {
  app.openapi(route, async (c) => {
    const answer = await cancelJob(dependencies, {
      principal: c.var.principal,
      jobId: c.req.valid('param').job_id,
      reason: c.req.valid('json').reason ?? null,
      idempotency: idempotencyOf(c, dependencies.now()),
    });
    return keptAnswer(c, answer, answer.status === 202 ? 202 : 200);
  });
}
