import type { ClockOutcome, ScheduleClock } from '../../api/schedule-clock.ts';
import type { SchedulableJob } from '../../workflows/start-options.ts';

/** Temporal's schedules without Temporal: what it was told, by schedule id. */
export class FakeScheduleClock implements ScheduleClock {
  readonly schedules = new Map<string, SchedulableJob>();
  readonly triggered: string[] = [];
  isAway = false;

  create = (schedule: SchedulableJob) => this.#unlessAway(() => this.schedules.set(schedule.scheduleId, schedule));
  update = (schedule: SchedulableJob) => this.create(schedule);
  remove = (scheduleId: string) => this.#unlessAway(() => this.schedules.delete(scheduleId));
  trigger = ({ scheduleId }: SchedulableJob) => this.#unlessAway(() => this.triggered.push(scheduleId));

  /** Ten times, an hour apart. */
  nextTimes = async (scheduleId: string) => {
    if (this.isAway || !this.schedules.has(scheduleId)) return null;
    return Array.from({ length: 10 }, (_, hour) => new Date(Date.UTC(2030, 0, 1, hour)));
  };

  async #unlessAway(act: () => unknown): Promise<ClockOutcome> {
    if (this.isAway) return 'unreachable';
    act();
    return 'done';
  }
}
