import { createRoute } from '@hono/zod-openapi';
import { IdempotencyHeader } from '../../../contracts/headers.ts';
import { ProcessBatch, StartedRun } from '../../../contracts/process-batch.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp, ApiContext } from '../../env.ts';
import { idempotencyOf } from '../../middleware/idempotency.ts';
import { readJsonBody } from '../../middleware/read-json-body.ts';
import { processBatch } from '../../operations/process-batch.ts';
import { keptAnswer } from '../../respond.ts';
import { errorResponses, jsonBody, jsonResponse } from '../../responses.ts';
import { BY_PATH, BY_QUERY, BY_QUERY_DESCRIPTION, batchOf, DOCUMENT_ROUTE, tenantsOnly } from './paths.ts';

/** Of the longest columns, most of their characters written as escapes. */
const MAX_BODY_BYTES = 1024 * 1024;

const BODY = { headers: IdempotencyHeader, body: jsonBody(ProcessBatch, { required: false }) };
const MIDDLEWARE = [tenantsOnly, readJsonBody(MAX_BODY_BYTES)];
const RESPONSES = {
  202: jsonResponse(StartedRun, 'The run, which goes on by itself.'),
  ...errorResponses(402, 404, 409, 413, 415, 422),
};

const byPath = createRoute({
  ...DOCUMENT_ROUTE,
  method: 'post',
  middleware: MIDDLEWARE,
  responses: RESPONSES,
  path: `${BY_PATH.path}/process`,
  request: { ...BY_PATH.request, ...BODY },
  operationId: 'process_document_batch',
  summary: 'Start a run over the queued documents of a batch',
  description:
    'Each document goes to the model with its columns, and gives rows. The columns are remembered for the batch. Money is held for the ' +
    'whole run at once; a refusal is the answer, and changes nothing.',
});

const byQuery = createRoute({
  ...DOCUMENT_ROUTE,
  method: 'post',
  middleware: MIDDLEWARE,
  responses: RESPONSES,
  path: `${BY_QUERY.path}/process`,
  request: { ...BY_QUERY.request, ...BODY },
  operationId: 'process_document_batch_by_query',
  summary: 'The same, by query',
  description: BY_QUERY_DESCRIPTION,
});

export function registerProcessBatch(app: ApiApp, dependencies: ApiDependencies): void {
  const start = async (c: ApiContext, named: Parameters<typeof batchOf>[1], asked: ProcessBatch | undefined) => {
    const request = { ...batchOf(c, named), asked: asked ?? {}, idempotency: idempotencyOf(c, dependencies.now()) };
    return keptAnswer(c, await processBatch(dependencies, request), 202);
  };
  app.openapi(byPath, (c) => start(c, { ...c.req.valid('query'), ...c.req.valid('param') }, c.req.valid('json')));
  app.openapi(byQuery, (c) => start(c, c.req.valid('query'), c.req.valid('json')));
}
