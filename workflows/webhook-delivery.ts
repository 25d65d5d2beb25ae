import { condition, continueAsNew, proxyActivities, setCurrentDetails, setHandler } from '@temporalio/workflow';
import type { MaintenanceActivities, SweepResult, WebhookActivities } from '../activities/interfaces.ts';
import { detailsTable } from './details.ts';
import { historyIsLong } from './history.ts';
import { deliverNowSignal, type WebhookDeliveryInput } from './messages.ts';
import { MAINTENANCE_POLICY, WEBHOOK_POLICY } from './policies.ts';
import { runEach } from './run-each.ts';

const { deliverWebhook } = proxyActivities<WebhookActivities>({ ...WEBHOOK_POLICY, summary: 'one attempt' });
const { sweepWebhooks: sweepOverdue } = proxyActivities<MaintenanceActivities>({
  ...MAINTENANCE_POLICY,
  summary: 'webhooks whose attempt is overdue',
});

/**
 * Brings one event to one receiver: an attempt, a wait, and so on until its row says that it is delivered or given up. A
 * signal ends a wait, and lets a replay that comes at the last moment go on here.
 */
export async function webhookDelivery(input: WebhookDeliveryInput): Promise<{ state: string }> {
  const { deliveryId, maxHistoryEvents } = input;
  let isDue = false;
  setHandler(deliverNowSignal, () => {
    isDue = true;
  });
  for (;;) {
    isDue = false;
    const step = await deliverWebhook({ deliveryId });
    if (step.kind === 'over') {
      if (isDue) continue;
      show(deliveryId, step.state);
      return { state: step.state };
    }
    show(deliveryId, `waits ${Math.round(step.delayMs / 1_000)} s for its next attempt`);
    await condition(() => isDue, step.delayMs, { summary: 'then the next attempt' });
    if (historyIsLong(maxHistoryEvents)) await continueAsNew<typeof webhookDelivery>(input);
  }
}

function show(deliveryId: string, stage: string): void {
  setCurrentDetails(detailsTable(stage, [['delivery', deliveryId]]));
}

/** By Schedule, every minute: no webhook stays without its workflow. */
export async function sweepWebhooks(): Promise<Record<string, SweepResult>> {
  return runEach({ webhooks: sweepOverdue });
}
