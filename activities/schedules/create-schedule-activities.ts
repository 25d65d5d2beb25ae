import { listSchedules, type ScheduleRow } from '../../db/batch-schedules.ts';
import { purgeScheduleRuns } from '../../db/schedule-runs.ts';
import { translateFailures } from '../failures.ts';
import { beat } from '../heartbeats.ts';
import type { ScheduleActivities } from '../interfaces.ts';
import { createBeginRun } from './begin-run.ts';
import type { ScheduleDependencies } from './dependencies.ts';
import { createFillJob } from './fill-job.ts';
import { end } from './run-end.ts';
import { createSubmitRun } from './submit-run.ts';

const PAGE = 500;
const KEEP_RUNS_MS = 90 * 24 * 3_600_000;

/** The activities of recurring jobs. */
export function createScheduleActivities(dependencies: ScheduleDependencies): ScheduleActivities {
  return translateFailures<ScheduleActivities>({
    beginRun: createBeginRun(dependencies),
    fillJob: createFillJob(dependencies),
    submitRun: createSubmitRun(dependencies),
    endRun: ({ outcome, error, ...firing }) => end(dependencies, firing, outcome, error),
    restoreSchedules: () => restoreSchedules(dependencies),
  });
}

/** Rows are the truth: a schedule that Temporal lacks is created there again. */
async function restoreSchedules({ db, now, clock, log }: ScheduleDependencies): Promise<{ restored: number }> {
  const known = await clock.listIds();
  let restored = 0;
  let after: { createdAt: Date; scheduleId: string } | null = null;
  for (;;) {
    const page: ScheduleRow[] = await listSchedules(db.pool, null, { after, limit: PAGE });
    for (const schedule of page.filter(({ scheduleId }) => !known.has(scheduleId))) {
      beat();
      if (!(await clock.restore(schedule))) continue;
      restored += 1;
      log.warn({ scheduleId: schedule.scheduleId }, 'a schedule was missing in Temporal; created it');
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) break;
    after = last;
  }
  await purgeScheduleRuns(db.pool, new Date(now().getTime() - KEEP_RUNS_MS));
  return { restored };
}
