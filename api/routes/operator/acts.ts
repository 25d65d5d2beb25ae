import { createRoute } from '@hono/zod-openapi';
import type { MiddlewareHandler } from 'hono';
import { BatchJob } from '../../../contracts/job.ts';
import {
  OperatorActTaken,
  OperatorCancel,
  OperatorGiveUp,
  OperatorReIngest,
  OperatorResolve,
} from '../../../contracts/operator-act.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp, ApiEnv } from '../../env.ts';
import { readJsonBody } from '../../middleware/read-json-body.ts';
import { cancelAnyJob } from '../../operations/cancel-job.ts';
import { giveUp } from '../../operations/give-up.ts';
import { reIngest } from '../../operations/re-ingest.ts';
import { resolveShard } from '../../operations/resolve-shard.ts';
import { keptAnswer } from '../../respond.ts';
import { errorResponses, jsonBody, jsonResponse } from '../../responses.ts';
import { JobParams } from '../jobs/paths.ts';
import { OPERATOR_ROUTE, operatorsOnly } from './paths.ts';

const MAX_BODY_BYTES = 64 * 1024;
const JOB = '/v1/operator/jobs/{job_id}';

const takeAct: MiddlewareHandler<ApiEnv>[] = [operatorsOnly, readJsonBody(MAX_BODY_BYTES)];

const SHARED = { ...OPERATOR_ROUTE, method: 'post', middleware: takeAct } as const;
const TAKEN = jsonResponse(OperatorActTaken, 'Noted; the shards act on it.');
const REFUSALS = errorResponses(404, 409, 413, 415);

const cancelRoute = createRoute({
  ...SHARED,
  operationId: 'operator_cancel',
  summary: 'Ask for any tenant’s job to be cancelled',
  description: 'The same request as a tenant’s own, with the operator’s key and reason on record.',
  path: `${JOB}/cancel`,
  request: { params: JobParams, body: jsonBody(OperatorCancel, { required: true }) },
  responses: {
    200: jsonResponse(BatchJob, 'The job has ended.'),
    202: jsonResponse(BatchJob, 'Asked for; billable work has still to settle.'),
    ...REFUSALS,
  },
});

const giveUpRoute = createRoute({
  ...SHARED,
  operationId: 'operator_give_up',
  summary: 'Stop waiting for a shard, whatever it waits for',
  description:
    'For good. What was read of its results by then is kept and charged; its other items end as `given_up`, free, and the ' +
    'rest of the hold is released. The provider is asked once to cancel what may still run, and may bill what had run.',
  path: `${JOB}/give-up`,
  request: { params: JobParams, body: jsonBody(OperatorGiveUp, { required: true }) },
  responses: { 202: TAKEN, ...REFUSALS },
});

const reIngestRoute = createRoute({
  ...SHARED,
  operationId: 'operator_re_ingest',
  summary: 'Read the results of batches again',
  description:
    'For an open shard the reading begins anew, now. For a settled one no outcome and no charge changes: results of items ' +
    'that had ended without them go to the unmatched lines, for an invoice to be compared with.',
  path: `${JOB}/re-ingest`,
  request: { params: JobParams, body: jsonBody(OperatorReIngest, { required: false }) },
  responses: { 202: TAKEN, ...errorResponses(404, 409, 410, 413, 415) },
});

const resolveRoute = createRoute({
  ...SHARED,
  operationId: 'operator_resolve',
  summary: 'Say which batch is that of an unanswered create',
  description:
    'Of a shard that is `indeterminate`: one of its `candidates`, which is taken once the provider has shown that it fits, or ' +
    'none of them, after which a new batch is made. What came of it is in the job’s `acts`.',
  path: `${JOB}/resolve`,
  request: { params: JobParams, body: jsonBody(OperatorResolve, { required: true }) },
  responses: { 202: TAKEN, ...REFUSALS },
});

export function registerOperatorActs(app: ApiApp, dependencies: ApiDependencies): void {
  app.openapi(cancelRoute, async (c) => {
    const { principal } = c.var;
    const { reason } = c.req.valid('json');
    const jobId = c.req.valid('param').job_id;
    const answer = await cancelAnyJob(dependencies, { principal, jobId, reason, idempotency: null });
    return keptAnswer(c, answer, answer.status === 202 ? 202 : 200);
  });
  app.openapi(giveUpRoute, async (c) => {
    const request = { principal: c.var.principal, jobId: c.req.valid('param').job_id, wish: c.req.valid('json') };
    return c.json(await giveUp(dependencies, request), 202);
  });
  app.openapi(reIngestRoute, async (c) => {
    const request = { principal: c.var.principal, jobId: c.req.valid('param').job_id, wish: c.req.valid('json') };
    return c.json(await reIngest(dependencies, request), 202);
  });
  app.openapi(resolveRoute, async (c) => {
    const request = { principal: c.var.principal, jobId: c.req.valid('param').job_id, wish: c.req.valid('json') };
    return c.json(await resolveShard(dependencies, request), 202);
  });
}
