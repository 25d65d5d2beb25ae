import type { ScheduleRow } from '../../db/batch-schedules.ts';
import type { IntakeSettings } from '../../db/intake/intake-settings.ts';
import type { ActivityDependencies } from '../dependencies.ts';

/** What the activities of recurring jobs may use. */
export interface ScheduleDependencies extends Pick<ActivityDependencies, 'db' | 'now' | 'log' | 'workflows'> {
  readonly intake: IntakeSettings;
  /** Hosts that items may be fetched from although their addresses are not public. */
  readonly allowedFetchHosts: ReadonlySet<string>;
  readonly clock: ScheduleClockControl;
}

/** Temporal's schedules, which fire. */
export interface ScheduleClockControl {
  /** Creates those that are missing; false for one that is there. */
  restore(schedule: ScheduleRow): Promise<boolean>;
  /** Ids of all that Temporal has, which may lag by some seconds. */
  listIds(): Promise<ReadonlySet<string>>;
  remove(scheduleId: string): Promise<void>;
}
