import { createRoute } from '@hono/zod-openapi';
import { Task } from '../../../contracts/task.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp } from '../../env.ts';
import { cancelTask } from '../../operations/cancel-task.ts';
import { jsonResponse, taskErrorResponses } from '../../responses.ts';
import { TASK, TASK_ROUTE, TaskParams, tenantsOnly } from './paths.ts';

const route = createRoute({
  ...TASK_ROUTE,
  operationId: 'cancel_task',
  summary: 'Cancel a queued task',
  description:
    'It ends at once as FAILED with the code CANCELLED, and costs nothing. One that is PROCESSING or has ended is left as it is: ' +
    '409 `CONFLICT`.',
  method: 'delete',
  path: TASK,
  middleware: tenantsOnly,
  request: { params: TaskParams },
  responses: { 200: jsonResponse(Task, 'The task as it is now.'), ...taskErrorResponses(404, 409) },
});

export function registerCancelTask(app: ApiApp, dependencies: ApiDependencies): void {
  app.openapi(route, async (c) => {
    const { id: taskId } = c.req.valid('param');
    return c.json(await cancelTask(dependencies, { principal: c.var.principal, taskId }), 200);
  });
}
