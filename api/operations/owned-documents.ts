import { z } from 'zod';
import type { Document } from '../../contracts/document.ts';
import { findBatch } from '../../db/document-batches.ts';
import { findDocumentView, listDocumentViews } from '../../db/document-view.ts';
import type { DocumentState } from '../../domain/document.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { Principal } from '../../domain/principal.ts';
import { CursorId, decodeCursor, encodeCursor } from '../cursor.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { presentDocument } from '../presentation/document.ts';
import { batchAddress } from './owned-batch.ts';
import { tenantScope } from './owned-job.ts';
import type { PageWish } from './page-by-id.ts';

type Dependencies = Pick<ApiDependencies, 'db' | 'cipher'>;

const LIST = 'documents';
/** Of the rows of the documents of one page. */
const MAX_PAGE_BYTES = 16 * 1024 * 1024;

/** Throws `not_found`, the same for every id that is not the caller's. */
export async function getDocument(
  { db, cipher }: Dependencies,
  { principal, documentId }: { readonly principal: Principal; readonly documentId: string },
): Promise<Document> {
  const view = await findDocumentView(db.pool, tenantScope(principal), documentId);
  if (view === null) throw new GatewayError('not_found', 'No such document.');
  return presentDocument(view, cipher);
}

/**
 * In the order of upload, of all batches, of those of a customer, or of the one that a name means now; none for a name that means
 * none. Throws `not_found` for a customer that the key may not see.
 */
export async function listDocuments(
  { db, cipher }: Dependencies,
  request: PageWish & {
    readonly principal: Principal;
    readonly batchName: string | undefined;
    readonly customerId: string | undefined;
    readonly state: DocumentState | undefined;
  },
): Promise<{ data: Document[]; next_cursor: string | null }> {
  const { batchName, customerId, principal, state, cursor, limit } = request;
  const own = tenantScope(principal);
  const address = batchAddress({ principal, batchName: batchName ?? '', customerId });
  const scope = customerId === undefined ? own : { ...own, customerId: address.customerId };
  const [after = null] = decodeCursor(LIST, [CursorDocument], cursor) ?? [];
  const batch = batchName === undefined ? undefined : await findBatch(db.pool, own, address);
  if (batch === null) return { data: [], next_cursor: null };
  const page = { after, maxRows: limit, maxBytes: MAX_PAGE_BYTES };
  const { rows, isComplete } = await listDocumentViews(db.pool, scope, { batchId: batch?.batchId, state }, page);
  const last = rows.at(-1);
  return {
    data: await Promise.all(rows.map((view) => presentDocument(view, cipher))),
    next_cursor: isComplete || last === undefined ? null : encodeCursor(LIST, [last.documentId]),
  };
}

const CursorDocument = CursorId.and(z.templateLiteral(['doc_', z.string()]));
