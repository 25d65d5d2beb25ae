import type { ActivityDependencies } from '../dependencies.ts';
import { translateFailures } from '../failures.ts';
import type { TaskActivities } from '../interfaces.ts';
import { createAttemptTask } from './attempt-task.ts';

/** The activities of single tasks: the same on every provider's direct queue. */
export function createTaskActivities(dependencies: ActivityDependencies): TaskActivities {
  return translateFailures<TaskActivities>({ attemptTask: createAttemptTask(dependencies) });
}
