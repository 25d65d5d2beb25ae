import { createRoute } from '@hono/zod-openapi';
import { TaskDetail, TaskQuery } from '../../../contracts/task.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp } from '../../env.ts';
import { getTask } from '../../operations/owned-task.ts';
import { jsonResponse, taskErrorResponses } from '../../responses.ts';
import { TASK, TASK_ROUTE, TaskParams, tenantsOnly } from './paths.ts';

const route = createRoute({
  ...TASK_ROUTE,
  operationId: 'get_task',
  summary: 'A task, and its reply',
  description: 'For 24 hours after its end; from then on the answer is that for an id that never existed.',
  method: 'get',
  path: TASK,
  middleware: tenantsOnly,
  request: { params: TaskParams, query: TaskQuery },
  responses: { 200: jsonResponse(TaskDetail, 'The task.'), ...taskErrorResponses(404) },
});

export function registerGetTask(app: ApiApp, dependencies: ApiDependencies): void {
  app.openapi(route, async (c) => {
    const { id: taskId } = c.req.valid('param');
    const includesHistory = c.req.valid('query').include === 'history';
    return c.json(await getTask(dependencies, { principal: c.var.principal, taskId, includesHistory }), 200);
  });
}
