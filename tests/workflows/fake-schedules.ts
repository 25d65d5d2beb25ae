import type { Firing, RunStep, ScheduleActivities } from '../../activities/interfaces.ts';

type Step = 'beginRun' | 'fillJob' | 'submitRun';

/** What the activities of one schedule answer, each from the front; they go on beyond the list, and end at the submit. */
export type ScheduleScript = { readonly [step in Step]?: readonly (RunStep | Error)[] };

export const GO_ON: RunStep = { kind: 'go_on' };

export function over(outcome: Extract<RunStep, { kind: 'over' }>['outcome']): RunStep {
  return { kind: 'over', outcome };
}

/** The recurring jobs of an engine, and everything that was asked of them. */
export class FakeSchedules {
  readonly #scripts = new Map<string, ScheduleScript>();
  readonly #calls: { readonly name: string; readonly input: Firing }[] = [];

  add(scheduleId: string, script: ScheduleScript = {}): void {
    this.#scripts.set(scheduleId, script);
  }

  callsOf(scheduleId: string): { readonly name: string; readonly input: Firing }[] {
    return this.#calls.filter(({ input }) => input.scheduleId === scheduleId);
  }

  activities(): ScheduleActivities {
    return {
      beginRun: async (input) => this.#answer('beginRun', input),
      fillJob: async (input) => this.#answer('fillJob', input),
      submitRun: async (input) => this.#answer('submitRun', input),
      endRun: async (input) => {
        this.#calls.push({ name: 'endRun', input });
        return over(input.outcome);
      },
      restoreSchedules: async () => ({ restored: 2 }),
    };
  }

  #answer(name: Step, input: Firing): RunStep {
    const before = this.callsOf(input.scheduleId).filter((call) => call.name === name).length;
    this.#calls.push({ name, input });
    const script = this.#scripts.get(input.scheduleId);
    if (script === undefined) return over('gone');
    const answer = script[name]?.[before] ?? (name === 'submitRun' ? over('submitted') : GO_ON);
    if (answer instanceof Error) throw answer;
    return answer;
  }
}
