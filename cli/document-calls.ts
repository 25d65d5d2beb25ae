import { randomUUID } from 'node:crypto';
import { Document, DocumentBatch, DocumentList } from '../contracts/document.ts';
import { type ProcessBatch, StartedRun } from '../contracts/process-batch.ts';
import type { Client, Query } from './client.ts';

const DOCUMENTS = '/v1/documents';
/** By query: it can carry every name. */
const BATCH = '/v1/batch';

/** The calls about documents, by what they do. */
export function documentCalls(client: Client) {
  return {
    uploadDocument: (batchName: string, file: { readonly name: string; readonly content: Blob }) => {
      const form = new FormData();
      form.append('batch_name', batchName);
      form.append('file', file.content, file.name);
      return client.send('POST', DOCUMENTS, Document, { form, idempotencyKey: randomUUID() });
    },
    listDocuments: (query: Query) => client.get(DOCUMENTS, DocumentList, query),
    getBatch: (batchName: string) => client.get(BATCH, DocumentBatch, { batch_name: batchName }),
    processBatch: (batchName: string, json: ProcessBatch) =>
      client.send('POST', `${BATCH}/process`, StartedRun, {
        ...{ json, query: { batch_name: batchName }, idempotencyKey: randomUUID() },
      }),
    streamBatchResults: (batchName: string, type: string) =>
      client.stream(`${BATCH}/results`, type, { batch_name: batchName }),
  };
}
