import { createRoute } from '@hono/zod-openapi';
import { Document, DocumentList, ListDocumentsQuery } from '../../../contracts/document.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp } from '../../env.ts';
import { limitStatusReads } from '../../middleware/limit-status-reads.ts';
import { getDocument, listDocuments } from '../../operations/owned-documents.ts';
import { errorResponses, jsonResponse } from '../../responses.ts';
import { DOCUMENT, DOCUMENT_ROUTE, DOCUMENTS, DocumentParams, tenantsOnly } from './paths.ts';

export function registerReadDocuments(app: ApiApp, dependencies: ApiDependencies): void {
  const middleware = [tenantsOnly, limitStatusReads(dependencies)];
  const getRoute = createRoute({
    ...DOCUMENT_ROUTE,
    operationId: 'get_document',
    summary: 'A document, and its rows',
    method: 'get',
    path: DOCUMENT,
    middleware,
    request: { params: DocumentParams },
    responses: { 200: jsonResponse(Document, 'The document.'), ...errorResponses(404) },
  });
  const listRoute = createRoute({
    ...DOCUMENT_ROUTE,
    operationId: 'list_documents',
    summary: 'List documents, in the order of upload',
    description: 'Of all batches, or of one. A page ends early where its rows are many.',
    method: 'get',
    path: DOCUMENTS,
    middleware,
    request: { query: ListDocumentsQuery },
    responses: { 200: jsonResponse(DocumentList, 'A page of documents.'), ...errorResponses(404) },
  });
  app.openapi(getRoute, async (c) => {
    const { id: documentId } = c.req.valid('param');
    return c.json(await getDocument(dependencies, { principal: c.var.principal, documentId }), 200);
  });
  app.openapi(listRoute, async (c) => {
    const { batch_name: batchName, customer_id: customerId, status: state, cursor, limit } = c.req.valid('query');
    const request = { principal: c.var.principal, batchName, customerId, state, cursor, limit };
    return c.json(await listDocuments(dependencies, request), 200);
  });
}
