import type { BatchSchedule, UpdateSchedule } from '../../contracts/batch-schedule.ts';
import { requireActiveAccount } from '../../db/account-standing.ts';
import { recordAudit } from '../../db/audit-log.ts';
import { deleteSchedule, findSchedule, type ScheduleRow, updateSchedule } from '../../db/batch-schedules.ts';
import type { IdempotentRequest } from '../../db/idempotency-keys.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { type KeptAnswer, once } from './once.ts';
import { tenantScope } from './owned-job.ts';
import { noSuchSchedule, type ScheduleRequest, showSchedule } from './schedules.ts';
import { temporalAway } from './temporal-away.ts';

type Dependencies = Pick<ApiDependencies, 'db' | 'now' | 'scheduleClock'>;

/** Pauses, resumes or otherwise changes a schedule. Throws `dependency_unavailable` where Temporal is away: nothing is changed then. */
export async function changeSchedule(
  dependencies: Dependencies,
  { principal, scheduleId, change }: ScheduleRequest & { readonly change: UpdateSchedule },
): Promise<BatchSchedule> {
  const { db, now, scheduleClock } = dependencies;
  const changed = await inTransaction(db, async (client) => {
    const row = await findSchedule(client, tenantScope(principal), scheduleId, { lock: true });
    if (row === null) throw noSuchSchedule();
    const next = applyChange(row, change, now());
    await updateSchedule(client, next);
    const entry = {
      act: 'schedule.changed',
      actor: principal.keyId,
      tenantId: row.tenantId,
      subject: scheduleId,
    } as const;
    await recordAudit(client, { ...entry, details: { fields: Object.keys(change) } });
    if ((await scheduleClock.update(next)) === 'unreachable') throw temporalAway();
    return next;
  });
  return showSchedule(dependencies, changed);
}

function applyChange(row: ScheduleRow, change: UpdateSchedule, at: Date): ScheduleRow {
  const paused = change.paused ?? row.pausedAt !== null;
  return {
    ...row,
    name: change.name ?? row.name,
    timing: change.schedule ?? row.timing,
    submits: change.submit ?? row.submits,
    overlap: change.overlap ?? row.overlap,
    deadlineAfterSeconds:
      change.deadline_after_seconds === undefined ? row.deadlineAfterSeconds : change.deadline_after_seconds,
    pausedAt: paused ? (row.pausedAt ?? at) : null,
    updatedAt: at,
  };
}

/** Jobs it has made stay. Throws `dependency_unavailable` where Temporal is away: it goes on firing then. */
export async function removeSchedule(
  { db, now, scheduleClock }: Dependencies,
  { principal, scheduleId }: ScheduleRequest,
): Promise<void> {
  await inTransaction(db, async (client) => {
    const row = await findSchedule(client, tenantScope(principal), scheduleId, { lock: true });
    if (row === null) throw noSuchSchedule();
    await deleteSchedule(client, scheduleId, now());
    const entry = { actor: principal.keyId, tenantId: row.tenantId, subject: scheduleId };
    await recordAudit(client, { ...entry, act: 'schedule.deleted' });
    if ((await scheduleClock.remove(scheduleId)) === 'unreachable') throw temporalAway();
  });
}

/** Fires a schedule once, paused or not; the run shows up among its runs. Throws
 * `tenant_suspended` or `dependency_unavailable`. */
export async function runSchedule(
  { db, scheduleClock }: Dependencies,
  { principal, scheduleId, idempotency }: ScheduleRequest & { readonly idempotency: IdempotentRequest | null },
): Promise<KeptAnswer> {
  return inTransaction(db, (client) =>
    once(client, idempotency, async () => {
      const row = await findSchedule(client, tenantScope(principal), scheduleId);
      if (row === null) throw noSuchSchedule();
      await requireActiveAccount(client, row);
      if ((await scheduleClock.trigger(row)) === 'unreachable') throw temporalAway();
      return { status: 202, body: JSON.stringify({ schedule_id: scheduleId, triggered: true }) };
    }),
  );
}
