/** The public states of a document, and of a batch of documents. The list is closed. */
export const DOCUMENT_STATES = ['queued', 'processing', 'succeeded', 'failed', 'canceled'] as const;
export type DocumentState = (typeof DOCUMENT_STATES)[number];

/** How the documents of a run are asked about: each at once, or all in one batch at batch prices. */
export const RUN_MODES = ['direct', 'batch'] as const;
export type RunMode = (typeof RUN_MODES)[number];

/** `failed → queued` is a new run over what failed. Nothing else leaves an end. */
const MOVES: { readonly [from in DocumentState]: readonly DocumentState[] } = {
  queued: ['processing', 'failed', 'canceled'],
  processing: ['succeeded', 'failed'],
  succeeded: [],
  failed: ['queued'],
  canceled: [],
};

export function mayDocumentMove(from: DocumentState, to: DocumentState): boolean {
  return MOVES[from].includes(to);
}

export function hasDocumentEnded(state: DocumentState): boolean {
  return state === 'succeeded' || state === 'failed' || state === 'canceled';
}

export type DocumentCounts = { readonly [state in DocumentState]: number };

/**
 * The state of a batch by those of its documents: any at work, or some ended while others wait, is `processing`; all waiting is
 * `queued`; all ended is `succeeded` if any did, else `failed` if any did, else `canceled`. Throws for a batch without documents.
 */
export function batchState(counts: DocumentCounts): DocumentState {
  const { queued, processing, succeeded, failed, canceled } = counts;
  const ended = succeeded + failed + canceled;
  if (queued + processing + ended === 0) throw new RangeError('a batch without documents has no state');
  if (processing > 0 || (queued > 0 && ended > 0)) return 'processing';
  if (queued > 0) return 'queued';
  if (succeeded > 0) return 'succeeded';
  return failed > 0 ? 'failed' : 'canceled';
}

/** Types a column of a table may have. */
export const COLUMN_TYPES = ['text', 'number', 'date', 'boolean', 'currency'] as const;
export type ColumnType = (typeof COLUMN_TYPES)[number];

/** A column of the rows that a document is to give. */
export interface DocumentColumn {
  readonly name: string;
  readonly description: string | null;
  readonly type: ColumnType;
  readonly required: boolean;
}

/** What an uploaded file is, by its content. */
export const DOCUMENT_TYPES = [
  'application/pdf',
  'image/png',
  'image/jpeg',
  'image/webp',
  'text/csv',
  'text/plain',
] as const;
export type DocumentType = (typeof DOCUMENT_TYPES)[number];
