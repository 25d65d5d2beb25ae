import { createRoute } from '@hono/zod-openapi';
import { BatchWebhook, BatchWebhookSet, SetBatchWebhook } from '../../../contracts/document.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp } from '../../env.ts';
import { readJsonBody } from '../../middleware/read-json-body.ts';
import { getBatchWebhook, removeBatchWebhook, setBatchWebhook } from '../../operations/batch-webhook.ts';
import { errorResponses, jsonBody, jsonResponse } from '../../responses.ts';
import { BY_PATH, BY_QUERY, BY_QUERY_DESCRIPTION, batchOf, DOCUMENT_ROUTE, tenantsOnly } from './paths.ts';

const MAX_BODY_BYTES = 64 * 1024;
const BODY = jsonBody(SetBatchWebhook, { required: true });
const PATH = `${BY_PATH.path}/webhook` as const;
const QUERY = `${BY_QUERY.path}/webhook` as const;

const PUT = {
  ...DOCUMENT_ROUTE,
  method: 'put' as const,
  middleware: [tenantsOnly, readJsonBody(MAX_BODY_BYTES)],
  responses: {
    200: jsonResponse(BatchWebhookSet, 'The webhook with its new URL; its secret stays.'),
    201: jsonResponse(BatchWebhookSet, 'The webhook and its secret.'),
    ...errorResponses(404, 409, 413, 415, 422),
  },
};
const GET = {
  ...DOCUMENT_ROUTE,
  method: 'get',
  middleware: tenantsOnly,
  responses: { 200: jsonResponse(BatchWebhook, 'The webhook.'), ...errorResponses(404) },
} as const;
const DELETE = {
  ...DOCUMENT_ROUTE,
  method: 'delete',
  middleware: tenantsOnly,
  responses: { 204: { description: 'Removed.' }, ...errorResponses(404) },
} as const;
const BY_QUERY_TEXT = { summary: 'The same, by query', description: BY_QUERY_DESCRIPTION };

const setByPath = createRoute({
  ...PUT,
  operationId: 'set_batch_webhook',
  summary: 'Have the end of every run of a batch told to a URL',
  description:
    'Once, even before the first upload: it is called at the end of every run, also of those after later uploads. The answer ' +
    'holds the secret that calls are verified with when it is made; it is not shown again.',
  path: PATH,
  request: { ...BY_PATH.request, body: BODY },
});
const setByQuery = createRoute({
  ...{ ...PUT, ...BY_QUERY_TEXT, operationId: 'set_batch_webhook_by_query', path: QUERY },
  request: { ...BY_QUERY.request, body: BODY },
});
const getByPath = createRoute({
  ...GET,
  operationId: 'get_batch_webhook',
  summary: 'The webhook of a batch, without its secret',
  path: PATH,
  request: BY_PATH.request,
});
const getByQuery = createRoute({
  ...{ ...GET, ...BY_QUERY_TEXT, operationId: 'get_batch_webhook_by_query', path: QUERY },
  request: BY_QUERY.request,
});
const deleteByPath = createRoute({
  ...DELETE,
  operationId: 'delete_batch_webhook',
  summary: 'Remove the webhook of a batch',
  description: 'What is on its way is still tried.',
  path: PATH,
  request: BY_PATH.request,
});
const deleteByQuery = createRoute({
  ...{ ...DELETE, ...BY_QUERY_TEXT, operationId: 'delete_batch_webhook_by_query', path: QUERY },
  request: BY_QUERY.request,
});

export function registerBatchWebhook(app: ApiApp, dependencies: ApiDependencies): void {
  app.openapi(setByPath, async (c) => {
    const request = batchOf(c, { ...c.req.valid('query'), ...c.req.valid('param') });
    const { isNew, webhook } = await setBatchWebhook(dependencies, { ...request, ...c.req.valid('json') });
    return c.json(webhook, isNew ? 201 : 200);
  });
  app.openapi(setByQuery, async (c) => {
    const request = { ...batchOf(c, c.req.valid('query')), ...c.req.valid('json') };
    const { isNew, webhook } = await setBatchWebhook(dependencies, request);
    return c.json(webhook, isNew ? 201 : 200);
  });
  app.openapi(getByPath, async (c) => {
    const request = batchOf(c, { ...c.req.valid('query'), ...c.req.valid('param') });
    return c.json(await getBatchWebhook(dependencies, request), 200);
  });
  app.openapi(getByQuery, async (c) =>
    c.json(await getBatchWebhook(dependencies, batchOf(c, c.req.valid('query'))), 200),
  );
  app.openapi(deleteByPath, async (c) => {
    await removeBatchWebhook(dependencies, batchOf(c, { ...c.req.valid('query'), ...c.req.valid('param') }));
    return c.body(null, 204);
  });
  app.openapi(deleteByQuery, async (c) => {
    await removeBatchWebhook(dependencies, batchOf(c, c.req.valid('query')));
    return c.body(null, 204);
  });
}
