import { translateFailures } from '../failures.ts';
import type { WebhookActivities } from '../interfaces.ts';
import { createDeliverWebhook } from './deliver-webhook.ts';
import type { WebhookDependencies } from './dependencies.ts';

/** The activities of outgoing webhooks. */
export function createWebhookActivities(dependencies: WebhookDependencies): WebhookActivities {
  return translateFailures<WebhookActivities>({ deliverWebhook: createDeliverWebhook(dependencies) });
}
