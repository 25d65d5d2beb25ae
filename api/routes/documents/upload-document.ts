import { createRoute } from '@hono/zod-openapi';
import { Document, DocumentUpload } from '../../../contracts/document.ts';
import { IdempotencyHeader } from '../../../contracts/headers.ts';
import { bodyStream } from '../../body.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp } from '../../env.ts';
import { keyOf } from '../../middleware/idempotency.ts';
import { uploadDocument } from '../../operations/upload-document.ts';
import { keptAnswer } from '../../respond.ts';
import { errorResponses, jsonResponse, referTo } from '../../responses.ts';
import { DOCUMENT_ROUTE, DOCUMENTS, tenantsOnly } from './paths.ts';

const route = createRoute({
  ...DOCUMENT_ROUTE,
  operationId: 'upload_document',
  summary: 'Upload a document into a batch',
  description:
    'It is `queued`, and nothing is done with it before its batch is processed. The batch comes into being with its first ' +
    'document. What the file is, is told by its content. The same file twice is taken twice, and told as `duplicate_of`.',
  method: 'post',
  path: DOCUMENTS,
  middleware: tenantsOnly,
  request: {
    headers: IdempotencyHeader,
    body: { required: true, content: { 'multipart/form-data': { schema: referTo('DocumentUpload') } } },
  },
  responses: { 201: jsonResponse(Document, 'The document.'), ...errorResponses(404, 409, 413, 415, 422) },
});

export function registerUploadDocument(app: ApiApp, dependencies: ApiDependencies): void {
  app.openAPIRegistry.register('DocumentUpload', DocumentUpload);
  app.openapi(route, async (c) => {
    const { principal } = c.var;
    const body = {
      stream: bodyStream(c),
      contentType: c.req.header('content-type'),
      contentEncoding: c.req.header('content-encoding'),
    };
    const answer = await dependencies.limits.duringUpload(principal, () =>
      uploadDocument(dependencies, { principal, body, idempotency: keyOf(c) }),
    );
    return keptAnswer(c, answer, 201);
  });
}
