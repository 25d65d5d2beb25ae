import { createRoute } from '@hono/zod-openapi';
import { PollNowAccepted } from '../../../contracts/operator-job.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp } from '../../env.ts';
import { pollNow } from '../../operations/poll-now.ts';
import { errorResponses, jsonResponse } from '../../responses.ts';
import { JobParams } from '../jobs/paths.ts';
import { OPERATOR_ROUTE, operatorsOnly } from './paths.ts';

const route = createRoute({
  ...OPERATOR_ROUTE,
  operationId: 'operator_poll_now',
  summary: 'Ask the provider now instead of at the next poll',
  method: 'post',
  path: '/v1/operator/jobs/{job_id}/poll-now',
  middleware: operatorsOnly,
  request: { params: JobParams },
  responses: { 202: jsonResponse(PollNowAccepted, 'Whether there was a workflow to tell.'), ...errorResponses(404) },
});

export function registerOperatorPollNow(app: ApiApp, dependencies: ApiDependencies): void {
  app.openapi(route, async (c) => {
    const request = { principal: c.var.principal, jobId: c.req.valid('param').job_id };
    return c.json(await pollNow(dependencies, request), 202);
  });
}
