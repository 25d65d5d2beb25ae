import { createRoute } from '@hono/zod-openapi';
import { DocumentBatch, DocumentBatchList, ListBatchesQuery } from '../../../contracts/document.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp } from '../../env.ts';
import { limitStatusReads } from '../../middleware/limit-status-reads.ts';
import { getBatch, listOwnedBatches } from '../../operations/owned-batch.ts';
import { errorResponses, jsonResponse } from '../../responses.ts';
import { BATCHES, BY_PATH, BY_QUERY, BY_QUERY_DESCRIPTION, batchOf, DOCUMENT_ROUTE, tenantsOnly } from './paths.ts';

export function registerReadBatches(app: ApiApp, dependencies: ApiDependencies): void {
  const middleware = [tenantsOnly, limitStatusReads(dependencies)];
  const responses = { 200: jsonResponse(DocumentBatch, 'The batch.'), ...errorResponses(404) };
  const shared = { ...DOCUMENT_ROUTE, method: 'get' as const, middleware, responses };
  const listRoute = createRoute({
    ...shared,
    operationId: 'list_document_batches',
    summary: 'List batches of documents, newest first',
    description: 'Deleted ones too, which `deleted_at` tells.',
    path: BATCHES,
    request: { query: ListBatchesQuery },
    responses: { 200: jsonResponse(DocumentBatchList, 'A page of batches.'), ...errorResponses() },
  });
  const byPath = createRoute({
    ...shared,
    ...BY_PATH,
    operationId: 'get_document_batch',
    summary: 'A batch of documents',
    description:
      'Of its documents together: `processing` while any is, or while some wait and others have ended; `queued` while all wait; ' +
      'then `succeeded` if any did, else `failed` if any did, else `canceled`.',
  });
  const byQuery = createRoute({
    ...shared,
    ...BY_QUERY,
    operationId: 'get_document_batch_by_query',
    summary: 'A batch of documents, by query',
    description: BY_QUERY_DESCRIPTION,
  });
  app.openapi(listRoute, async (c) => {
    return c.json(await listOwnedBatches(dependencies, { principal: c.var.principal, ...c.req.valid('query') }), 200);
  });
  app.openapi(byPath, async (c) => {
    const named = { ...c.req.valid('query'), ...c.req.valid('param') };
    return c.json(await getBatch(dependencies, batchOf(c, named)), 200);
  });
  app.openapi(byQuery, async (c) => c.json(await getBatch(dependencies, batchOf(c, c.req.valid('query'))), 200));
}
