import { z } from 'zod';
import { DOCUMENT_STATES, DOCUMENT_TYPES } from '../domain/document.ts';
import { DOCUMENT_ERROR_CODES } from '../domain/document-error.ts';
import { DocumentColumnView } from './document-columns.ts';
import { NextCursor, PageQuery } from './pagination.ts';
import { plainText, Timestamp } from './text.ts';

const MAX_NAME_LENGTH = 255;

/** Any characters but controls; kept exactly as given. */
export const BatchName = plainText(MAX_NAME_LENGTH).meta({
  description: `The name of a batch: any text of at most ${MAX_NAME_LENGTH} characters without control characters, kept exactly as given.`,
  example: 'Invoices 2026/08',
});

/** For display alone: never a path. */
export const FileName = plainText(MAX_NAME_LENGTH);

const DocumentStatus = z.enum(DOCUMENT_STATES).meta({
  id: 'DocumentStatus',
  description: 'Of a document, and of a batch in aggregate. The list is closed.',
});

/** From the path, whatever it is: what names no document is not found. */
export const DocumentId = z.string().meta({ example: 'doc_01j7q0c6tgf0wr9s2xk4zc8v5n' });

const LineItems = z.array(z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])));
const Provenance = z.array(z.object({ page: z.int().nullable(), confidence: z.number().nullable() }));

const ProcessingError = z
  .object({
    code: z.string().meta({ description: `One of ${DOCUMENT_ERROR_CODES.map((code) => `\`${code}\``).join(', ')}.` }),
    message: z.string(),
  })
  .meta({ id: 'ProcessingError' });

export const Document = z
  .object({
    id: DocumentId,
    batch_name: z.string(),
    customer_id: z.string().nullable(),
    project_id: z.string().nullable(),
    file_name: z.string().nullable().meta({ description: 'As it was uploaded; null where none was given.' }),
    media_type: z.enum(DOCUMENT_TYPES).meta({ description: 'By its content, whatever its name says.' }),
    bytes: z.int(),
    sha256: z.string().meta({ description: 'Of the file, as hex.' }),
    pages: z.int().nullable().meta({ description: 'Of a PDF.' }),
    duplicate_of: z
      .string()
      .nullable()
      .meta({ description: 'The first document of the batch with the same bytes, where there was one at its upload.' }),
    status: DocumentStatus,
    created_at: Timestamp.meta({ description: 'When it was uploaded.' }),
    started_at: Timestamp.nullable().meta({ description: 'When it was taken up; null while it is queued.' }),
    completed_at: Timestamp.nullable().meta({ description: 'When it ended.' }),
    line_items: LineItems.nullable().meta({ description: 'On success, one object for each row of its table.' }),
    provenance: Provenance.nullable().meta({
      description: 'On success, for each row where it stands in the document, as far as the model tells.',
    }),
    processing_error: ProcessingError.nullable().meta({ description: 'On failure, why: never an HTTP error.' }),
    run_id: z.string().nullable().meta({ description: 'Of the run that took it up last.' }),
    content_deleted_at: Timestamp.nullable().meta({ description: 'When its file and its rows were deleted.' }),
  })
  .meta({ id: 'Document' });
export type Document = z.infer<typeof Document>;

export const DocumentList = z.object({ data: z.array(Document), next_cursor: NextCursor }).meta({ id: 'DocumentList' });

/** Of multipart/form-data, in any order. */
export const DocumentUpload = z
  .object({
    file: z.string().meta({ format: 'binary', description: 'PDF, PNG, JPEG, WebP, CSV or TXT.' }),
    batch_name: BatchName,
    customer_id: z.string().optional().meta({ description: 'For keys of the tenant: whose document it is.' }),
  })
  .meta({ id: 'DocumentUpload' });

const Counts = z.object({
  queued: z.int(),
  processing: z.int(),
  succeeded: z.int(),
  failed: z.int(),
  canceled: z.int(),
});

/** What a batch says of itself, and its results say of it. */
const BatchHead = {
  batch_name: z.string(),
  customer_id: z.string().nullable(),
  project_id: z.string().nullable(),
  status: DocumentStatus,
  counts: Counts.meta({ id: 'DocumentCounts', description: 'Documents by their status.' }),
  all_done: z.boolean().meta({ description: 'Whether every document has ended.' }),
  created_at: Timestamp.meta({ description: 'The earliest upload.' }),
  started_at: Timestamp.nullable().meta({ description: 'The earliest time at which one was taken up.' }),
  completed_at: Timestamp.nullable().meta({
    description: 'The latest end; null until every document has one, and again once one is added.',
  }),
  deleted_at: Timestamp.nullable().meta({
    description: 'When it was deleted: an upload under its name starts another one.',
  }),
};

export const DocumentBatch = z
  .object({
    ...BatchHead,
    columns: z
      .array(DocumentColumnView)
      .nullable()
      .meta({ description: 'Of the last run; what the next takes unless it names its own. Null before the first.' }),
    model: z.string().nullable().meta({ description: 'The same of the model.' }),
  })
  .meta({ id: 'DocumentBatch' });
export type DocumentBatch = z.infer<typeof DocumentBatch>;

export const DocumentBatchList = z
  .object({ data: z.array(DocumentBatch), next_cursor: NextCursor })
  .meta({ id: 'DocumentBatchList' });
export type DocumentBatchList = z.infer<typeof DocumentBatchList>;

const ResultDocument = Document.pick({
  ...{ id: true, file_name: true, status: true, created_at: true, started_at: true, completed_at: true },
  ...{ line_items: true, provenance: true, processing_error: true },
});
export type ResultDocument = z.infer<typeof ResultDocument>;

export const BatchResults = z
  .object({ ...BatchHead, documents: z.array(ResultDocument) })
  .meta({ id: 'BatchResults', description: 'Every document of the batch, in the order of upload.' });

/** Which of the batches that have a name. */
export const BatchQuery = z.object({
  customer_id: z
    .string()
    .max(200)
    .optional()
    .meta({ description: 'For keys of the tenant: the batch of that name of this customer, not the tenant’s own.' }),
});

/** For names that no path can carry. */
export const NamedBatchQuery = BatchQuery.extend({ batch_name: z.string().max(2_000) });

/** Of results. */
const ByteOrderMark = {
  byte_order_mark: z
    .enum(['true', 'false'])
    .optional()
    .meta({ description: '`true` begins a CSV with one: Excel takes a CSV without it for its own code page.' }),
};
export const BatchResultsQuery = BatchQuery.extend(ByteOrderMark);
export const NamedBatchResultsQuery = NamedBatchQuery.extend(ByteOrderMark);

export const ListBatchesQuery = z.object(PageQuery);
export const ListDocumentsQuery = z.object({
  ...PageQuery,
  ...BatchQuery.shape,
  batch_name: z.string().max(2_000).optional(),
  status: DocumentStatus.optional(),
});

export const SetBatchWebhook = z
  .strictObject({ url: z.string().max(2_048).meta({ example: 'https://example.com/hooks/batchgate' }) })
  .meta({ id: 'SetBatchWebhook' });

const Webhook = {
  batch_name: z.string(),
  customer_id: z.string().nullable(),
  url: z.string(),
  created_at: Timestamp,
};
export const BatchWebhook = z.object(Webhook).meta({ id: 'BatchWebhook' });
export type BatchWebhook = z.infer<typeof BatchWebhook>;

export const BatchWebhookSet = z
  .object({
    ...Webhook,
    secret: z
      .string()
      .nullable()
      .meta({ description: 'What calls are verified with. Shown when the webhook is made, and never again.' }),
  })
  .meta({ id: 'BatchWebhookSet' });
export type BatchWebhookSet = z.infer<typeof BatchWebhookSet>;
