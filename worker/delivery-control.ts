import { type Client, WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/client';
import type { DeliveryControl } from '../activities/dependencies.ts';
import { webhookDeliveryWorkflowId } from '../workflows/ids.ts';
import { deliverNowSignal } from '../workflows/messages.ts';
import { type StartableDelivery, webhookDeliveryStart } from '../workflows/start-options.ts';

/** A run that ends just as it is woken is followed by a new one. */
const MAX_TRIES = 5;

export function createDeliveryControl(client: Client): DeliveryControl {
  return {
    start: async (delivery) => {
      for (let attempt = 1; attempt <= MAX_TRIES; attempt += 1) {
        if (await startRun(client, delivery)) return true;
        if (await wakeRun(client, delivery)) return false;
      }
      throw new Error('a delivery can neither be started nor woken');
    },
  };
}

/** False where a run is under way. */
async function startRun(client: Client, delivery: StartableDelivery): Promise<boolean> {
  try {
    await client.workflow.start('webhookDelivery', {
      ...webhookDeliveryStart(delivery),
      workflowIdConflictPolicy: 'FAIL',
    });
    return true;
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return false;
    throw error;
  }
}

/** False where it has ended meanwhile. */
async function wakeRun(client: Client, { deliveryId }: StartableDelivery): Promise<boolean> {
  try {
    await client.workflow.getHandle(webhookDeliveryWorkflowId(deliveryId)).signal(deliverNowSignal);
    return true;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}
