import { correctSlots, listDoubtfulSlots } from '../../db/task-slots.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { ActivityDependencies } from '../dependencies.ts';
import type { MaintenanceActivities } from '../interfaces.ts';
import { sweepEach } from './sweep-each.ts';

const MAX_TENANTS = 500;

/** Counts of open tasks that are wrong would refuse a tenant's tasks for ever, or let in too many: set right, and told of. */
export function createSweepTaskSlots(dependencies: ActivityDependencies): MaintenanceActivities['sweepTaskSlots'] {
  const { db } = dependencies;
  return async () =>
    sweepEach(
      dependencies,
      await listDoubtfulSlots(db.pool, MAX_TENANTS),
      (tenantId) => tenantId,
      async (tenantId) => {
        const corrected = await inTransaction(db, (client) => correctSlots(client, tenantId));
        if (corrected === null) return null;
        const { counted, open } = corrected;
        return {
          ...{ kind: 'task_slots_wrong', subject: tenantId, jobId: null, tenantId },
          ...{ facts: { counted, open }, repair: 'done' },
        };
      },
    );
}
