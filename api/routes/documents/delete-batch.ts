import { createRoute } from '@hono/zod-openapi';
import { DocumentBatch } from '../../../contracts/document.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp } from '../../env.ts';
import { deleteBatch } from '../../operations/delete-batch.ts';
import { errorResponses, jsonResponse } from '../../responses.ts';
import { BY_PATH, BY_QUERY, BY_QUERY_DESCRIPTION, batchOf, DOCUMENT_ROUTE, tenantsOnly } from './paths.ts';

const SHARED = {
  ...DOCUMENT_ROUTE,
  method: 'delete',
  middleware: tenantsOnly,
  responses: { 200: jsonResponse(DocumentBatch, 'The batch as it is now.'), ...errorResponses(404, 409) },
} as const;

const byPath = createRoute({
  ...SHARED,
  ...BY_PATH,
  operationId: 'delete_document_batch',
  summary: 'Cancel what of a batch is queued, and free its name',
  description:
    'Queued documents become `canceled`, those that are being processed, or on their way to a provider, finish, and all of them ' +
    'can still be read. Once more it ' +
    'does nothing. A later upload under the name starts a new batch.',
});

const byQuery = createRoute({
  ...SHARED,
  ...BY_QUERY,
  operationId: 'delete_document_batch_by_query',
  summary: 'The same, by query',
  description: BY_QUERY_DESCRIPTION,
});

export function registerDeleteBatch(app: ApiApp, dependencies: ApiDependencies): void {
  app.openapi(byPath, async (c) => {
    const named = { ...c.req.valid('query'), ...c.req.valid('param') };
    return c.json(await deleteBatch(dependencies, batchOf(c, named)), 200);
  });
  app.openapi(byQuery, async (c) => c.json(await deleteBatch(dependencies, batchOf(c, c.req.valid('query'))), 200));
}
