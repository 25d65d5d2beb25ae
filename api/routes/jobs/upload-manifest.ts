import { createRoute } from '@hono/zod-openapi';
import { IdempotencyHeader } from '../../../contracts/headers.ts';
import { ItemsAccepted } from '../../../contracts/item.ts';
import { bodyStream } from '../../body.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp } from '../../env.ts';
import { keyOf } from '../../middleware/idempotency.ts';
import { uploadManifest } from '../../operations/upload-manifest.ts';
import { errorResponses, jsonResponse, referTo } from '../../responses.ts';
import { JOB, JOB_ROUTE, JobParams, tenantsOnly } from './paths.ts';

const route = createRoute({
  ...JOB_ROUTE,
  operationId: 'upload_manifest',
  summary: 'Replace all items of a draft',
  description: 'NDJSON of any size, streamed; gzip is accepted, as a Content-Encoding or as a file. All or nothing.',
  method: 'put',
  path: `${JOB}/manifest`,
  middleware: tenantsOnly,
  request: {
    params: JobParams,
    headers: IdempotencyHeader,
    body: { required: true, content: { 'application/x-ndjson': { schema: referTo('ItemLines') } } },
  },
  responses: { 200: jsonResponse(ItemsAccepted, 'What was stored.'), ...errorResponses(404, 409, 413, 415, 429) },
});

export function registerUploadManifest(app: ApiApp, dependencies: ApiDependencies): void {
  app.openapi(route, async (c) => {
    const { principal } = c.var;
    const stored = await dependencies.limits.duringUpload(principal, () =>
      uploadManifest(dependencies, {
        principal,
        jobId: c.req.valid('param').job_id,
        stream: bodyStream(c),
        contentEncoding: c.req.header('content-encoding'),
        idempotency: keyOf(c),
      }),
    );
    return c.json({ ...stored }, 200);
  });
}
