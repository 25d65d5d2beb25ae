import { closeStrayAttempt, forgetIdleQueues, listStrayAttempts } from '../../db/stray-room.ts';
import type { ActivityDependencies } from '../dependencies.ts';
import type { MaintenanceActivities } from '../interfaces.ts';
import { wakeNext } from '../queue-turn.ts';
import { sweepEach } from './sweep-each.ts';

const MAX_ATTEMPTS = 500;
/** A full queue is tried again at most half an hour apart, so nobody has been about to for longer than that. */
const IDLE_MS = 2 * 3_600_000;

/**
 * Room in a provider's queue, and the turn of a create, that an attempt keeps after its shard or job has ended: given
 * back, and whoever waits for it is woken.
 */
export function createSweepRoom(dependencies: ActivityDependencies): MaintenanceActivities['sweepRoom'] {
  const { db, now } = dependencies;
  return async () => {
    const result = await sweepEach(
      dependencies,
      await listStrayAttempts(db.pool, MAX_ATTEMPTS),
      ({ jobId, shard, attempt }) => `${jobId}/${shard}/${attempt}`,
      async (stray) => {
        if (!(await closeStrayAttempt(db.pool, stray, now()))) return null;
        const { jobId, jobUuid, tenantId, shard, attempt, ...account } = stray;
        await wakeNext(dependencies, account, { jobUuid, shard });
        const facts = { shard, attempt, provider: account.provider };
        const subject = `${jobId}/${shard}/${attempt}`;
        return { kind: 'room_without_holder', subject, jobId, tenantId, facts, repair: 'done' };
      },
    );
    await forgetIdleQueues(db.pool, new Date(now().getTime() - IDLE_MS));
    return result;
  };
}
