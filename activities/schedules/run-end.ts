import { insertEvent } from '../../db/events.ts';
import { endRun, findRun, type RunError, type RunOutcome } from '../../db/schedule-runs.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { Firing, RunStep } from '../interfaces.ts';
import type { ScheduleDependencies } from './dependencies.ts';

/** Ends the run; a failure is told to the tenant too. The first end stands. */
export async function end(
  { db, now, log }: Pick<ScheduleDependencies, 'db' | 'now' | 'log'>,
  firing: Firing,
  outcome: RunOutcome,
  error: RunError | null = null,
): Promise<RunStep> {
  await inTransaction(db, async (client) => {
    if (!(await endRun(client, firing, { outcome, error, now: now() })) || error === null) return;
    const { rows } = await client.query<{ tenant_id: string; project_id: string | null }>(
      'SELECT tenant_id, project_id FROM batch_schedules WHERE schedule_id = $1',
      [firing.scheduleId],
    );
    const run = await findRun(client, firing.scheduleId, firing.firing);
    if (rows[0] === undefined || run === null) return;
    await insertEvent(client, {
      tenantId: rows[0].tenant_id,
      jobId: null,
      projectId: rows[0].project_id,
      type: 'batch_schedule.run_failed',
      data: {
        schedule_id: firing.scheduleId,
        scheduled_for: firing.scheduledFor,
        job_id: run.jobId,
        code: error.code,
      },
    });
  });
  const facts = { scheduleId: firing.scheduleId, scheduledFor: firing.scheduledFor, outcome };
  if (error === null) log.info(facts, 'schedule fired');
  else log.warn({ ...facts, code: error.code }, 'schedule made no running job');
  return { kind: 'over', outcome };
}
