import type { ApiDependencies } from '../../dependencies.ts';
import { type ApiApp, newApiApp } from '../../env.ts';
import { registerBatchResults } from './batch-results.ts';
import { registerBatchWebhook } from './batch-webhook.ts';
import { registerDeleteBatch } from './delete-batch.ts';
import { registerProcessBatch } from './process-batch.ts';
import { registerReadBatches } from './read-batches.ts';
import { registerReadDocuments } from './read-documents.ts';
import { registerUploadDocument } from './upload-document.ts';

/** `/v1/documents` and `/v1/batches`: files in named batches, and what became of them. */
export function documentsRouter(dependencies: ApiDependencies): ApiApp {
  const app = newApiApp();
  registerUploadDocument(app, dependencies);
  registerReadDocuments(app, dependencies);
  registerProcessBatch(app, dependencies);
  registerReadBatches(app, dependencies);
  registerBatchResults(app, dependencies);
  registerBatchWebhook(app, dependencies);
  registerDeleteBatch(app, dependencies);
  return app;
}
