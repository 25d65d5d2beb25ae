import { listOverdueTasks } from '../../db/overdue-tasks.ts';
import { hasTaskEnded } from '../../domain/task.ts';
import type { ActivityDependencies } from '../dependencies.ts';
import type { MaintenanceActivities } from '../interfaces.ts';
import { sweepEach } from './sweep-each.ts';

/** Longer than the api takes to hand a task over, and than a dead worker's task waits for another. */
const OVERDUE_MS = 60_000;
const MAX_TASKS = 500;

/**
 * Tasks that nobody works on although it is their time: starts the workflow of each that has none. One that was cancelled and
 * whose money is still held is woken. A workflow that runs waits for a worker, and is left alone.
 */
export function createSweepTasks(dependencies: ActivityDependencies): MaintenanceActivities['sweepTasks'] {
  const { db, tasks, now } = dependencies;
  return async () =>
    sweepEach(
      dependencies,
      await listOverdueTasks(db.pool, new Date(now().getTime() - OVERDUE_MS), MAX_TASKS),
      ({ taskId }) => taskId,
      async (task) => {
        const { taskId, tenantId, state, attempts } = task;
        if (!(await tasks.start(task))) {
          if (hasTaskEnded(state)) await tasks.wake(taskId);
          return null;
        }
        const finding = { kind: 'task_without_workflow', subject: taskId, jobId: taskId, tenantId } as const;
        return { ...finding, facts: { state, attempts }, repair: 'done' };
      },
    );
}
