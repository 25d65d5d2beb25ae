import { createRoute } from '@hono/zod-openapi';
import { SubmitHeaders } from '../../../contracts/headers.ts';
import { BatchJob } from '../../../contracts/job.ts';
import { RetryJob } from '../../../contracts/retry-job.ts';
import { waitSeconds } from '../../../contracts/submit-job.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp } from '../../env.ts';
import { idempotencyOf } from '../../middleware/idempotency.ts';
import { readJsonBody } from '../../middleware/read-json-body.ts';
import { retryJob } from '../../operations/retry-job.ts';
import { keptAnswer } from '../../respond.ts';
import { errorResponses, jsonBody, jsonResponse } from '../../responses.ts';
import { JOB, JOB_ROUTE, JobParams, tenantsOnly } from './paths.ts';

const MAX_BODY_BYTES = 16 * 1024 * 1024;

const route = createRoute({
  ...JOB_ROUTE,
  operationId: 'retry',
  summary: 'Retry failed items of an ended job',
  description:
    'Makes a job of the items that did not complete, linked to them; completed ones are never taken. Without `classes` and ' +
    '`custom_ids` it takes all but those that need a corrected request (`validation`) or an acknowledgement ' +
    '(`safety_blocked`). An item is retried once: of two retries at the same time one makes the job, the other is answered ' +
    '`nothing_to_retry` with its id. Deleting the draft gives the items back. With `submit` it is submitted as by `submit`; ' +
    'a refusal leaves the draft, and names it.',
  method: 'post',
  path: `${JOB}/retry`,
  middleware: [tenantsOnly, readJsonBody(MAX_BODY_BYTES)] as const,
  request: { params: JobParams, headers: SubmitHeaders, body: jsonBody(RetryJob, { required: false }) },
  responses: {
    201: jsonResponse(BatchJob, 'The new job: a draft, or submitted.'),
    ...errorResponses(402, 404, 409, 413, 415, 422),
  },
});

export function registerRetryJob(app: ApiApp, dependencies: ApiDependencies): void {
  app.openapi(route, async (c) => {
    const answer = await retryJob(dependencies, {
      principal: c.var.principal,
      jobId: c.req.valid('param').job_id,
      retry: c.req.valid('json'),
      waitMs: waitSeconds(c.req.valid('header').prefer) * 1000,
      maxRequestBytes: dependencies.intake.limits.maxRequestBytes,
      idempotency: idempotencyOf(c, dependencies.now()),
    });
    return keptAnswer(c, answer, 201);
  });
}
