import type pg from 'pg';
import type { DocumentBatch, DocumentBatchList } from '../../contracts/document.ts';
import { isStorable } from '../../contracts/metadata.ts';
import {
  type BatchAddress,
  type DocumentBatchRow,
  findBatch,
  getBatchView,
  listBatches,
} from '../../db/document-batches.ts';
import type { JobScope } from '../../db/job-scope.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { Principal } from '../../domain/principal.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { presentBatch } from '../presentation/document.ts';
import { tenantScope } from './owned-job.ts';
import { type PageWish, pageById } from './page-by-id.ts';

type Queryable = Pick<pg.ClientBase, 'query'>;

/** Who asks for the batch of which name. */
export interface BatchRequest {
  readonly principal: Principal;
  readonly batchName: string;
  /** Whose batch of that name, where a key of the tenant asks; the tenant's own where it says nothing. */
  readonly customerId: string | null | undefined;
}

/** One text for names that are unknown, malformed or foreign. */
function noSuchBatch(): GatewayError {
  return new GatewayError('not_found', 'No such batch.');
}

/**
 * What a request names, within what its key may see. A key of one customer has that one's batches alone. Throws what `refuse`
 * makes for a name that nobody has.
 */
export function batchAddress(
  { principal, batchName, customerId = null }: BatchRequest,
  refuse: () => GatewayError = noSuchBatch,
): BatchAddress {
  const own = tenantScope(principal).customerId;
  const isForeign = own !== null && customerId !== null && customerId !== own;
  if (isForeign || !isStorable(batchName) || !isStorable(customerId ?? '')) throw refuse();
  return { name: batchName, customerId: own ?? customerId };
}

/** The batch that a name means now, deleted or not, else `not_found`. */
export async function getOwnedBatch(
  db: Queryable,
  request: BatchRequest,
  options: { readonly lock?: boolean } = {},
): Promise<DocumentBatchRow> {
  const batch = await findBatch(db, tenantScope(request.principal), batchAddress(request), options);
  if (batch === null) throw noSuchBatch();
  return batch;
}

/** Throws `not_found`. */
export async function getBatch({ db }: Pick<ApiDependencies, 'db'>, request: BatchRequest): Promise<DocumentBatch> {
  const { batchId } = await getOwnedBatch(db.pool, request);
  return presentBatch(await getBatchView(db.pool, batchId));
}

/** Newest first. */
export async function listOwnedBatches(
  { db }: Pick<ApiDependencies, 'db'>,
  { principal, ...page }: PageWish & { readonly principal: Principal },
): Promise<DocumentBatchList> {
  const scope: JobScope = tenantScope(principal);
  return pageById(
    'document_batches',
    page,
    ({ after, limit }) => listBatches(db.pool, scope, { before: after, limit }),
    { idOf: ({ batchId }) => batchId, present: presentBatch },
  );
}
