import type { CreateSchedule } from '../../contracts/batch-schedule.ts';
import { recordAudit } from '../../db/audit-log.ts';
import { insertSchedule, type ScheduleRow } from '../../db/batch-schedules.ts';
import type { IdempotentRequest } from '../../db/idempotency-keys.ts';
import { newId } from '../../db/ids.ts';
import { findCopySource, requireCopySource } from '../../db/manifest-copy.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { Principal } from '../../domain/principal.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { presentSchedule } from '../presentation/schedule.ts';
import { requireJobOwner } from './job-ownership.ts';
import { requireStorageTerms } from './job-storage.ts';
import { type KeptAnswer, once } from './once.ts';
import { requirePublicUrl } from './public-url.ts';
import { temporalAway } from './temporal-away.ts';

export type ScheduleChange = Pick<ApiDependencies, 'db' | 'now' | 'scheduleClock' | 'allowedFetchHosts'>;

/**
 * Makes a schedule: its row, and Temporal's schedule that fires. Throws `dependency_unavailable` where Temporal is away;
 * nothing is left then. Throws too what a job of the template would be refused for at once.
 */
export async function createSchedule(
  { db, now, scheduleClock, allowedFetchHosts }: ScheduleChange,
  request: {
    readonly principal: Principal;
    readonly schedule: CreateSchedule;
    readonly idempotency: IdempotentRequest | null;
  },
): Promise<KeptAnswer> {
  const { principal, schedule, idempotency } = request;
  if (schedule.items.items_url !== undefined)
    await requirePublicUrl(schedule.items.items_url, 'items.items_url', allowedFetchHosts);
  if (schedule.job.webhook !== undefined)
    await requirePublicUrl(schedule.job.webhook.url, 'job.webhook.url', allowedFetchHosts);
  return inTransaction(db, (client) =>
    once(client, idempotency, async () => {
      const { owner } = await requireJobOwner(client, principal, schedule.job);
      await requireStorageTerms(client, owner.tenantId, schedule.job.storage ?? null, 'job.storage');
      const { manifest_of_job: sourceId } = schedule.items;
      if (sourceId !== undefined) requireCopySource(await findCopySource(client, owner, sourceId), schedule);
      const at = now();
      const row: ScheduleRow = {
        ...owner,
        scheduleId: newId('schedule'),
        apiKeyId: principal.keyId,
        name: schedule.name,
        timing: schedule.schedule,
        job: schedule.job,
        items: schedule.items,
        submits: schedule.submit,
        overlap: schedule.overlap,
        deadlineAfterSeconds: schedule.deadline_after_seconds ?? null,
        pausedAt: schedule.paused ? at : null,
        createdAt: at,
        updatedAt: at,
      };
      await insertSchedule(client, row);
      const entry = { actor: principal.keyId, tenantId: row.tenantId, subject: row.scheduleId };
      await recordAudit(client, { ...entry, act: 'schedule.created' });
      // Last: what Temporal was told cannot be rolled back. A firing that finds no row ends, and takes it away again.
      if ((await scheduleClock.create(row)) === 'unreachable') throw temporalAway();
      const next = await scheduleClock.nextTimes(row.scheduleId);
      return { status: 201, body: JSON.stringify(presentSchedule(row, [], next)) };
    }),
  );
}
