import { defineSearchAttributeKey } from '@temporalio/common';
import {
  ActivityFailure,
  ApplicationFailure,
  proxyActivities,
  setCurrentDetails,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { Firing, RunStep, ScheduleActivities } from '../activities/interfaces.ts';
import { detailsTable } from './details.ts';
import type { ScheduledJobInput } from './messages.ts';
import { FETCH_POLICY, SCHEDULE_POLICY } from './policies.ts';

const summarized = (summary: string) => proxyActivities<ScheduleActivities>({ ...SCHEDULE_POLICY, summary });
const { beginRun } = summarized('make the draft of this firing');
const { submitRun } = summarized('submit it');
const { endRun } = summarized('record how the run ended');
const { fillJob } = proxyActivities<ScheduleActivities>({ ...FETCH_POLICY, summary: 'copy or fetch its items' });
const { restoreSchedules: restore } = summarized('create the schedules that Temporal lacks');

/** Set by Temporal on what a schedule starts. */
const SCHEDULED_FOR = defineSearchAttributeKey('TemporalScheduledStartTime', 'DATETIME');

const MAX_LOOKS = 40;
const MAX_LOOK_DELAY_MS = 5 * 60_000;

/**
 * One firing of a schedule: a draft, its items, and the submit that everybody else makes too. Ends with the verdict; how
 * the job goes on is the job's own. The run's row is the truth, so that a repeat makes no second job.
 */
export async function scheduledJob({ scheduleId }: ScheduledJobInput): Promise<{ outcome: string }> {
  const { workflowId, startTime, typedSearchAttributes } = workflowInfo();
  const scheduledFor = (typedSearchAttributes.get(SCHEDULED_FOR) ?? startTime).toISOString();
  const firing: Firing = { scheduleId, firing: workflowId, scheduledFor };
  const step = await run(firing).catch((error: unknown) => recordFailure(firing, error));
  const outcome = step.kind === 'over' ? step.outcome : 'submitted';
  show(firing, outcome);
  return { outcome };
}

async function run(firing: Firing): Promise<RunStep> {
  show(firing, 'making the draft');
  const begun = await beginRun(firing);
  if (begun.kind === 'over') return begun;
  show(firing, 'bringing its items');
  const filled = await fillJob(firing);
  if (filled.kind === 'over') return filled;
  show(firing, 'submitting');
  for (let look = 0; look < MAX_LOOKS; look += 1) {
    const submitted = await submitRun(firing);
    if (submitted.kind === 'over') return submitted;
    await sleep(Math.min(1_000 * 2 ** look, MAX_LOOK_DELAY_MS), { summary: 'then look for the verdict' });
  }
  return endRun({ ...firing, outcome: 'submitted', error: null });
}

/** Only what a person made the schedule with is named; a fault of our own is an operator's to look at. */
async function recordFailure(firing: Firing, error: unknown): Promise<RunStep> {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  const isTheirs = cause instanceof ApplicationFailure && cause.type === 'items_unavailable';
  const told = isTheirs
    ? { code: 'items_unavailable', message: cause.message }
    : { code: 'internal', message: 'A fault of the gateway kept the job from being made.' };
  return endRun({ ...firing, outcome: 'failed', error: told });
}

function show({ scheduleId, scheduledFor }: Firing, stage: string): void {
  setCurrentDetails(
    detailsTable(stage, [
      ['schedule', scheduleId],
      ['scheduled for', scheduledFor],
    ]),
  );
}

/** By Schedule: the rows' schedules are all in Temporal, or come to be. */
export async function restoreSchedules(): Promise<{ restored: number }> {
  return restore();
}
