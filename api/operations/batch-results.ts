import type { ResultDocument } from '../../contracts/document.ts';
import { listBatchColumns } from '../../db/batch-columns.ts';
import { type DocumentBatchView, getBatchView } from '../../db/document-batches.ts';
import { type DocumentView, listDocumentViews } from '../../db/document-view.ts';
import { bindScope } from '../../db/row-scope.ts';
import type { DocumentColumn } from '../../domain/document.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { presentResult } from '../presentation/document.ts';
import { type BatchRequest, getOwnedBatch } from './owned-batch.ts';
import { tenantScope } from './owned-job.ts';

type Dependencies = Pick<ApiDependencies, 'db' | 'cipher'>;

/** What is read at once, and held in memory until the reader has taken it. */
const PIECE = { maxRows: 200, maxBytes: 2 * 1024 * 1024 };

/** A batch as it stood when it was asked for, and its documents as they are read when they are asked for. */
export interface OpenBatchResults {
  readonly batch: DocumentBatchView;
  readonly columns: readonly DocumentColumn[];
  readonly documents: AsyncGenerator<ResultDocument>;
}

/** Throws `not_found`. */
export async function openBatchResults({ db, cipher }: Dependencies, request: BatchRequest): Promise<OpenBatchResults> {
  const { batchId } = await getOwnedBatch(db.pool, request);
  const batch = await getBatchView(db.pool, batchId);
  const columns = await listBatchColumns(db.pool, batchId);
  const scope = tenantScope(request.principal);
  // A stream asks for them once the request has been answered.
  const read = bindScope((after: string | null) => listDocumentViews(db.pool, scope, { batchId }, { after, ...PIECE }));
  return { batch, columns, documents: readAll(read, (view) => presentResult(view, cipher)) };
}

async function* readAll(
  read: (after: string | null) => ReturnType<typeof listDocumentViews>,
  present: (view: DocumentView) => Promise<ResultDocument>,
): OpenBatchResults['documents'] {
  for (let after: string | null = null; ; ) {
    const page: Awaited<ReturnType<typeof listDocumentViews>> = await read(after);
    for (const view of page.rows) yield await present(view);
    const last = page.rows.at(-1);
    if (page.isComplete || last === undefined) return;
    after = last.documentId;
  }
}
