import { createRoute } from '@hono/zod-openapi';
import { SubmitHeaders } from '../../../contracts/headers.ts';
import { BatchJob } from '../../../contracts/job.ts';
import { SubmitJob, waitSeconds } from '../../../contracts/submit-job.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp } from '../../env.ts';
import { idempotencyOf } from '../../middleware/idempotency.ts';
import { readJsonBody } from '../../middleware/read-json-body.ts';
import { submitJob } from '../../operations/submit-job.ts';
import { submitSample } from '../../operations/submit-sample.ts';
import { presentJob } from '../../presentation/job.ts';
import { markReplay } from '../../respond.ts';
import { errorResponses, jsonBody, jsonResponse } from '../../responses.ts';
import { JOB, JOB_ROUTE, JobParams, tenantsOnly } from './paths.ts';

const MAX_BODY_BYTES = 64 * 1024;

const route = createRoute({
  ...JOB_ROUTE,
  operationId: 'submit',
  summary: 'Submit a draft',
  description:
    'Locks the items, checks them, holds the money and hands the job over. A refusal is the answer, and leaves an editable ' +
    'draft. Where the verdict takes longer than the wait, the job is answered as `validating`. With `sample` the answer is ' +
    'another job, of so many of the items; the draft stays as it is, and nothing is left of a sample that is refused.',
  method: 'post',
  path: `${JOB}/submit`,
  middleware: [tenantsOnly, readJsonBody(MAX_BODY_BYTES)] as const,
  request: { params: JobParams, headers: SubmitHeaders, body: jsonBody(SubmitJob, { required: false }) },
  responses: {
    200: jsonResponse(BatchJob, 'The job had been submitted before.'),
    202: jsonResponse(BatchJob, 'Submitted; or the job of the sample.'),
    ...errorResponses(402, 404, 409, 413, 415, 422),
  },
});

export function registerSubmitJob(app: ApiApp, dependencies: ApiDependencies): void {
  app.openapi(route, async (c) => {
    const request = {
      principal: c.var.principal,
      jobId: c.req.valid('param').job_id,
      waitMs: waitSeconds(c.req.valid('header').prefer) * 1000,
      idempotency: idempotencyOf(c, dependencies.now()),
    };
    const { sample } = c.req.valid('json');
    if (sample !== undefined) {
      const { job, replayed } = await submitSample(dependencies, { ...request, items: sample });
      markReplay(c, replayed);
      return c.json(presentJob(job), 202);
    }
    const { status, job, replayed } = await submitJob(dependencies, request);
    markReplay(c, replayed);
    return c.json(presentJob(job), status);
  });
}
