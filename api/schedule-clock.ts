import {
  type Client,
  ScheduleAlreadyRunning,
  type ScheduleHandle,
  ScheduleNotFoundError,
  type ScheduleOptions,
} from '@temporalio/client';
import { temporalScheduleId } from '../workflows/ids.ts';
import { jobSchedule, type SchedulableJob } from '../workflows/start-options.ts';
import { within } from './deadline.ts';

const CHANGE_MS = 3_000;
const LOOK_MS = 2_000;

/** What became of a change: one that could not be made has done nothing, as far as can be told. */
export type ClockOutcome = 'done' | 'unreachable';

/** Temporal's schedules of recurring jobs as the api sees them. Every call ends within a few seconds, and none throws. */
export interface ScheduleClock {
  create(schedule: SchedulableJob): Promise<ClockOutcome>;
  /** As the row is now; created where it is missing. */
  update(schedule: SchedulableJob): Promise<ClockOutcome>;
  remove(scheduleId: string): Promise<ClockOutcome>;
  /** Fires once, now, whether paused or not. */
  trigger(schedule: SchedulableJob): Promise<ClockOutcome>;
  /** Null where Temporal does not answer, or has no such schedule. */
  nextTimes(scheduleId: string): Promise<Date[] | null>;
}

/** Over a client whose connection may be lazy: nothing is sent before the first call. */
export function createScheduleClock(client: Client): ScheduleClock {
  const handleOf = (scheduleId: string) => client.schedule.getHandle(temporalScheduleId(scheduleId));
  const create = async (schedule: SchedulableJob): Promise<void> => {
    try {
      await client.schedule.create(jobSchedule(schedule) as ScheduleOptions);
    } catch (error) {
      if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    }
  };
  const orCreated = async (schedule: SchedulableJob, act: (handle: ScheduleHandle) => Promise<void>): Promise<void> => {
    try {
      await act(handleOf(schedule.scheduleId));
    } catch (error) {
      if (!(error instanceof ScheduleNotFoundError)) throw error;
      await create(schedule);
      await act(handleOf(schedule.scheduleId));
    }
  };
  const change = (call: () => Promise<void>): Promise<ClockOutcome> => {
    const done = client.connection.withDeadline(Date.now() + CHANGE_MS, call).then(
      (): ClockOutcome => 'done',
      (): ClockOutcome => 'unreachable',
    );
    return within(done, CHANGE_MS, 'unreachable');
  };
  return {
    create: (schedule) => change(() => create(schedule)),
    update: (schedule) =>
      change(() =>
        orCreated(schedule, (handle) => {
          const { spec, policies, action, state } = jobSchedule(schedule) as ScheduleOptions;
          return handle.update((previous) => ({
            ...previous,
            spec,
            action: { ...action, workflowId: action.workflowId ?? '' },
            policies: { ...previous.policies, ...policies },
            state: { ...previous.state, ...state },
          }));
        }),
      ),
    remove: (scheduleId) =>
      change(async () => {
        try {
          await handleOf(scheduleId).delete();
        } catch (error) {
          if (!(error instanceof ScheduleNotFoundError)) throw error;
        }
      }),
    trigger: (schedule) => change(() => orCreated(schedule, (handle) => handle.trigger('ALLOW_ALL'))),
    nextTimes: (scheduleId) => {
      const look = () => handleOf(scheduleId).describe();
      const times = client.connection.withDeadline(Date.now() + LOOK_MS, look).then(
        ({ info }) => info.nextActionTimes,
        () => null,
      );
      return within(times, LOOK_MS, null);
    },
  };
}
