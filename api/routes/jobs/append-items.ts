import { createRoute } from '@hono/zod-openapi';
import { IdempotencyHeader } from '../../../contracts/headers.ts';
import { AppendItems, ItemLines, ItemsAccepted } from '../../../contracts/item.ts';
import { GatewayError } from '../../../domain/gateway-error.ts';
import { mediaType, NDJSON_TYPES } from '../../accepts.ts';
import { bodyStream } from '../../body.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp } from '../../env.ts';
import { keyOf } from '../../middleware/idempotency.ts';
import { appendItems } from '../../operations/append-items.ts';
import { errorResponses, jsonResponse, referTo } from '../../responses.ts';
import { JOB, JOB_ROUTE, JobParams, tenantsOnly } from './paths.ts';

const route = createRoute({
  ...JOB_ROUTE,
  operationId: 'append_items',
  summary: 'Append items to a draft',
  description: 'Any number of times while the job is a draft. Each call stores all of its items or none.',
  method: 'post',
  path: `${JOB}/items`,
  middleware: tenantsOnly,
  request: {
    params: JobParams,
    headers: IdempotencyHeader,
    // Referred to rather than validated: the body is checked item by item as it streams in.
    body: {
      required: true,
      content: {
        'application/json': { schema: referTo('AppendItems') },
        'application/x-ndjson': { schema: referTo('ItemLines') },
      },
    },
  },
  responses: { 200: jsonResponse(ItemsAccepted, 'What was stored.'), ...errorResponses(404, 409, 413, 415, 429) },
});

export function registerAppendItems(app: ApiApp, dependencies: ApiDependencies): void {
  app.openAPIRegistry.register('AppendItems', AppendItems);
  app.openAPIRegistry.register('ItemLines', ItemLines);
  app.openapi(route, async (c) => {
    const { principal } = c.var;
    const format = formatOf(c.req.header('content-type'));
    const stored = await dependencies.limits.duringUpload(principal, () =>
      appendItems(dependencies, {
        principal,
        jobId: c.req.valid('param').job_id,
        format,
        stream: bodyStream(c),
        contentEncoding: c.req.header('content-encoding'),
        idempotency: keyOf(c),
      }),
    );
    return c.json({ ...stored }, 200);
  });
}

function formatOf(contentType: string | undefined): 'json' | 'ndjson' {
  const type = mediaType(contentType);
  if (type === 'application/json') return 'json';
  if (NDJSON_TYPES.some((ndjson) => ndjson === type)) return 'ndjson';
  throw new GatewayError('unsupported_media_type', 'Send items as application/json or application/x-ndjson.');
}
