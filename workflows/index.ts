// The one module the workflow bundle starts from.
export { batchJob } from './batch-job.ts';
export { providerBatch } from './provider-batch.ts';
export { reconcile, retention } from './reconcile.ts';
export { restoreSchedules, scheduledJob } from './scheduled-job.ts';
export { sweep, sweepProviders } from './sweep.ts';
export { sweepWebhooks, webhookDelivery } from './webhook-delivery.ts';
