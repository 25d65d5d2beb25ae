import { z } from '@hono/zod-openapi';
import { BatchQuery, DocumentId, NamedBatchQuery } from '../../../contracts/document.ts';
import type { ApiContext } from '../../env.ts';
import { allow, TENANT_ROLES } from '../../middleware/allow.ts';
import type { BatchRequest } from '../../operations/owned-batch.ts';

export const DOCUMENTS = '/v1/documents';
export const DOCUMENT = `${DOCUMENTS}/{id}`;
export const BATCHES = '/v1/batches';

export const DocumentParams = z.object({ id: DocumentId });

/** A batch by a path that ends in its percent-encoded name, */
export const BY_PATH = {
  path: `${BATCHES}/{batch_name}`,
  request: { params: z.object({ batch_name: z.string() }), query: BatchQuery },
} as const;

/** and by query, for names that no path can carry: URL parsers resolve `..`. */
export const BY_QUERY = { path: '/v1/batch', request: { query: NamedBatchQuery } } as const;

export const BY_QUERY_DESCRIPTION =
  'For names that a path cannot carry: URL parsers resolve `..`, and some proxies decode `%2F`.';

/** What every route about documents declares. */
export const DOCUMENT_ROUTE = { tags: ['Documents'], security: [{ bearer: [] }] };

export const tenantsOnly = allow({ roles: TENANT_ROLES, scope: { read: 'documents:read', write: 'documents:write' } });

/** Which batch a call of either form means. */
export function batchOf(
  { var: { principal } }: Pick<ApiContext, 'var'>,
  { batch_name: batchName, customer_id: customerId }: z.infer<typeof NamedBatchQuery>,
): BatchRequest {
  return { principal, batchName, customerId };
}
