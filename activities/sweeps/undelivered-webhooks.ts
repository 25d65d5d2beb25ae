import { listOverdue, markDispatched } from '../../db/webhook-deliveries.ts';
import type { ActivityDependencies } from '../dependencies.ts';
import type { MaintenanceActivities } from '../interfaces.ts';
import { sweepEach } from './sweep-each.ts';

/** Longer than a worker with much to do takes to come to an attempt that is due. */
const OVERDUE_MS = 2 * 60_000;
const MAX_DELIVERIES = 500;

/** Webhooks whose next attempt is overdue: starts the workflow of each that has none, and wakes the others. */
export function createSweepWebhooks(dependencies: ActivityDependencies): MaintenanceActivities['sweepWebhooks'] {
  const { db, deliveries, now } = dependencies;
  return async () =>
    sweepEach(
      dependencies,
      await listOverdue(db.pool, new Date(now().getTime() - OVERDUE_MS), MAX_DELIVERIES),
      ({ deliveryId }) => deliveryId,
      async (delivery) => {
        const { deliveryId, tenantId, eventType } = delivery;
        const repair = (await deliveries.start(delivery)) ? 'done' : 'asked';
        await markDispatched(db.pool, deliveryId, now());
        const facts = { event_type: eventType };
        return { kind: 'webhook_undelivered', subject: deliveryId, jobId: null, tenantId, facts, repair };
      },
    );
}
