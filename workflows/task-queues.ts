import type { Provider } from '../domain/provider.ts';

/** Workflow tasks of every workflow type. */
export const WORKFLOW_QUEUE = 'batchgate-workflows';

/** Activities that only speak to Postgres; their concurrency stays below the connection pool's size. */
export const DATABASE_QUEUE = 'batchgate-database';

/** Recurring jobs: fetching what a firing needs may take its time, and holds nothing else up. */
export const SCHEDULES_QUEUE = 'batchgate-schedules';

/** Outgoing webhooks: receivers that hang hold up nothing else. */
export const WEBHOOKS_QUEUE = 'batchgate-webhooks';

/** Sweeps and other housekeeping, apart so that they never delay a job. */
export const MAINTENANCE_QUEUE = 'batchgate-maintenance';

/** Attempts of single requests: one queue a provider, apart from its batches, since each may take minutes to be answered. */
export function directQueue(provider: Provider): string {
  return `batchgate-direct-${provider}`;
}

/** Activities that call a provider: one queue each, so that one provider's trouble or rate limit never holds up another. */
export function providerQueue(provider: Provider): string {
  return `batchgate-provider-${provider}`;
}
