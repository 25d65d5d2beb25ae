import { type Client, ScheduleAlreadyRunning, ScheduleNotFoundError, type ScheduleOptions } from '@temporalio/client';
import type { ScheduleClockControl } from '../activities/schedules/dependencies.ts';
import { TEMPORAL_SCHEDULE_PREFIX, temporalScheduleId } from '../workflows/ids.ts';
import { jobSchedule } from '../workflows/start-options.ts';

/** What activities do to Temporal's schedules of recurring jobs. */
export function createScheduleClockControl(client: Client): ScheduleClockControl {
  return {
    restore: async (schedule) => {
      try {
        await client.schedule.create(jobSchedule(schedule) as ScheduleOptions);
        return true;
      } catch (error) {
        if (error instanceof ScheduleAlreadyRunning) return false;
        throw error;
      }
    },
    listIds: async () => {
      const ids = new Set<string>();
      for await (const { scheduleId } of client.schedule.list()) {
        if (scheduleId.startsWith(TEMPORAL_SCHEDULE_PREFIX)) ids.add(scheduleId.slice(TEMPORAL_SCHEDULE_PREFIX.length));
      }
      return ids;
    },
    remove: async (scheduleId) => {
      try {
        await client.schedule.getHandle(temporalScheduleId(scheduleId)).delete();
      } catch (error) {
        if (!(error instanceof ScheduleNotFoundError)) throw error;
      }
    },
  };
}
