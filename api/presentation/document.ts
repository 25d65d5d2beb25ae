import type { BatchWebhook, Document, DocumentBatch, ResultDocument } from '../../contracts/document.ts';
import type { DocumentBatchView } from '../../db/document-batches.ts';
import { type DocumentView, rowsContext } from '../../db/document-view.ts';
import type { DocumentWebhookRow } from '../../db/document-webhooks.ts';
import { fileNameContext } from '../../db/documents.ts';
import { batchState, hasDocumentEnded } from '../../domain/document.ts';
import { documentErrorMessage } from '../../domain/document-error.ts';
import type { Cipher } from '../../encryption/cipher.ts';
import { presentTime } from './time.ts';

export async function presentDocument(view: DocumentView, cipher: Cipher): Promise<Document> {
  return {
    ...(await presentResult(view, cipher)),
    batch_name: view.batchName,
    customer_id: view.customerId,
    project_id: view.projectId,
    media_type: view.mediaType,
    bytes: view.bytes,
    sha256: view.sha256.toString('hex'),
    pages: view.pages,
    duplicate_of: view.duplicateOf,
    run_id: view.runId,
    content_deleted_at: presentTime(view.contentDeletedAt),
  };
}

/** What the results of a batch say of a document. */
export async function presentResult(view: DocumentView, cipher: Cipher): Promise<ResultDocument> {
  const { documentId, state, errorCode } = view;
  return {
    id: documentId,
    file_name: await openFileName(view, cipher),
    status: state,
    created_at: view.createdAt.toISOString(),
    started_at: presentTime(view.startedAt),
    completed_at: presentTime(view.completedAt),
    ...(await openRows(view, cipher)),
    processing_error:
      state === 'failed' && errorCode !== null ? { code: errorCode, message: documentErrorMessage(errorCode) } : null,
  };
}

async function openFileName(
  { documentId, fileName, sealedFileName }: DocumentView,
  cipher: Cipher,
): Promise<string | null> {
  if (sealedFileName === null) return fileName;
  return (await cipher.open(sealedFileName, fileNameContext(documentId))).toString();
}

type Rows = Pick<Document, 'line_items' | 'provenance'>;

async function openRows({ documentId, content }: DocumentView, cipher: Cipher): Promise<Rows> {
  const { lineItems, provenance, sealed } = content;
  if (sealed !== null) return JSON.parse((await cipher.open(sealed, rowsContext(documentId))).toString());
  return { line_items: read(lineItems), provenance: read(provenance) };
}

/** Written by us alone: not checked. */
function read<Value>(json: string | null): Value | null {
  return json === null ? null : JSON.parse(json);
}

export function presentBatch(view: DocumentBatchView): DocumentBatch {
  const { columns, model } = view;
  return { ...presentBatchHead(view), columns: columns === null ? null : [...columns], model };
}

/** What the results of a batch say of it too. */
export function presentBatchHead(view: DocumentBatchView): Omit<DocumentBatch, 'columns' | 'model'> {
  const status = batchState(view.counts);
  return {
    batch_name: view.name,
    customer_id: view.customerId,
    project_id: view.projectId,
    status,
    counts: { ...view.counts },
    all_done: hasDocumentEnded(status),
    created_at: view.createdAt.toISOString(),
    started_at: presentTime(view.startedAt),
    completed_at: presentTime(view.completedAt),
    deleted_at: presentTime(view.deletedAt),
  };
}

export function presentBatchWebhook({ name, customerId, url, createdAt }: DocumentWebhookRow): BatchWebhook {
  return { batch_name: name, customer_id: customerId, url, created_at: createdAt.toISOString() };
}
