import type { BatchSchedule, ScheduleRunView } from '../../contracts/batch-schedule.ts';
import type { ScheduleRow } from '../../db/batch-schedules.ts';
import type { ScheduleRun } from '../../db/schedule-runs.ts';
import { presentTime } from './time.ts';

const NEXT_RUNS = 5;

/** A schedule with its last runs, and its next ones where they could be told. */
export function presentSchedule(
  row: ScheduleRow,
  runs: readonly ScheduleRun[],
  nextTimes: readonly Date[] | null,
): BatchSchedule {
  const next = row.pausedAt === null ? nextTimes : [];
  return {
    schedule_id: row.scheduleId,
    tenant_id: row.tenantId,
    project_id: row.projectId,
    customer_id: row.customerId,
    name: row.name,
    schedule: { ...row.timing },
    job: { ...row.job },
    items: { ...row.items },
    submit: row.submits,
    overlap: row.overlap,
    deadline_after_seconds: row.deadlineAfterSeconds,
    paused: row.pausedAt !== null,
    next_runs: next === null ? null : next.slice(0, NEXT_RUNS).map((time) => time.toISOString()),
    runs: runs.map(presentRun),
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

function presentRun(run: ScheduleRun): ScheduleRunView {
  return {
    scheduled_for: run.scheduledFor.toISOString(),
    started_at: run.startedAt.toISOString(),
    ended_at: presentTime(run.endedAt),
    job_id: run.jobId,
    job_status: run.jobState,
    outcome: run.outcome,
    error: run.error,
  };
}
