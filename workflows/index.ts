// The one module the workflow bundle starts from.
export { asyncTask } from './async-task.ts';
export { batchJob } from './batch-job.ts';
export { documentRun } from './document-run.ts';
export { providerBatch } from './provider-batch.ts';
export { reconcile, retention } from './reconcile.ts';
export { restoreSchedules, scheduledJob } from './scheduled-job.ts';
export { sweep, sweepProviders } from './sweep.ts';
export { sweepDocuments } from './sweep-documents.ts';
export { sweepTasks } from './sweep-tasks.ts';
export { sweepWebhooks, webhookDelivery } from './webhook-delivery.ts';
