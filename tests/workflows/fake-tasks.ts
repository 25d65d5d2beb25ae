import type { TaskActivities, TaskStep } from '../../activities/interfaces.ts';

const TASK_COMPLETED: TaskStep = { kind: 'over', state: 'COMPLETED' };
export const TASK_FAILED: TaskStep = { kind: 'over', state: 'FAILED' };

export function taskAgain(delayMs: number): TaskStep {
  return { kind: 'again', delayMs };
}

/** What the attempts of tasks answer, each from the front; beyond the list they are completed. A cancel ends any. */
export class FakeTasks {
  readonly #scripts = new Map<string, readonly TaskStep[]>();
  readonly #calls = new Map<string, { readonly cancel: boolean }[]>();
  /** Awaited in each attempt, once it is counted. */
  held: Promise<unknown> = Promise.resolve();

  add(taskId: string, script: readonly TaskStep[]): void {
    this.#scripts.set(taskId, script);
  }

  callsOf(taskId: string): readonly { readonly cancel: boolean }[] {
    return this.#calls.get(taskId) ?? [];
  }

  activities(): TaskActivities {
    return {
      attemptTask: async ({ taskId, cancel = false }) => {
        const before = this.callsOf(taskId);
        this.#calls.set(taskId, [...before, { cancel }]);
        if (cancel) return TASK_FAILED;
        const step = this.#scripts.get(taskId)?.[before.length] ?? TASK_COMPLETED;
        await this.held;
        return step;
      },
    };
  }
}
