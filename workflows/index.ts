// The one module the workflow bundle starts from.
export { batchJob } from './batch-job.ts';
export { providerBatch } from './provider-batch.ts';
export { reconcile, retention } from './reconcile.ts';
