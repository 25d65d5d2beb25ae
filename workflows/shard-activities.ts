import { proxyActivities } from '@temporalio/workflow';
import type { ProviderActivities } from '../activities/interfaces.ts';
import type { Provider } from '../domain/provider.ts';
import { ABANDON_POLICY, INGEST_POLICY, POLL_POLICY, SUBMIT_POLICY } from './policies.ts';
import { providerQueue } from './task-queues.ts';

/** The activities of one provider, each with its policy and what the Web UI says of it. */
export function providerActivities(provider: Provider) {
  const taskQueue = providerQueue(provider);
  const proxy = (policy: typeof POLL_POLICY, summary?: string) =>
    proxyActivities<ProviderActivities>({ ...policy, taskQueue, ...(summary !== undefined && { summary }) });
  return {
    submitting: proxy(SUBMIT_POLICY, 'build, upload and create'),
    polling: proxy(POLL_POLICY),
    ingesting: proxy(INGEST_POLICY, 'download and settle results'),
    rereading: proxy(INGEST_POLICY, 'read the results once more; nothing settled changes'),
    abandoning: proxy(ABANDON_POLICY, 'ask the provider to cancel what may still run'),
  };
}
