import { createRoute } from '@hono/zod-openapi';
import { IdempotencyHeader } from '../../../contracts/headers.ts';
import { CreateTask, Task } from '../../../contracts/task.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp } from '../../env.ts';
import { idempotencyOf } from '../../middleware/idempotency.ts';
import { readJsonBody } from '../../middleware/read-json-body.ts';
import { createTask } from '../../operations/create-task.ts';
import { jsonText, markReplay } from '../../respond.ts';
import { jsonBody, jsonResponse, taskErrorResponses } from '../../responses.ts';
import { TASK_ROUTE, TASKS, tenantsOnly } from './paths.ts';

/** The longest prompt and system text, most of their characters written as escapes. */
const MAX_BODY_BYTES = 8 * 1024 * 1024;

const route = createRoute({
  ...TASK_ROUTE,
  operationId: 'create_task',
  summary: 'Queue one durable task',
  description:
    'One prompt, run on the ordinary endpoint of the provider that `taskType` names. What is known to be impossible is refused ' +
    'here and not stored. Queued and in-progress tasks together are limited by the tenant’s plan: beyond it 429 ' +
    '`CONCURRENCY_LIMIT`.',
  method: 'post',
  path: TASKS,
  middleware: [tenantsOnly, readJsonBody(MAX_BODY_BYTES)] as const,
  request: { headers: IdempotencyHeader, body: jsonBody(CreateTask, { required: true }) },
  responses: {
    202: jsonResponse(Task, 'Queued; `Location` is where to poll it.'),
    ...taskErrorResponses(402, 404, 409, 413, 415, 422),
  },
});

export function registerCreateTask(app: ApiApp, dependencies: ApiDependencies): void {
  app.openapi(route, async (c) => {
    const idempotency = idempotencyOf(c, dependencies.now());
    const request = { principal: c.var.principal, task: c.req.valid('json'), idempotency };
    const { body, taskId, replayed } = await createTask(dependencies, request);
    c.header('Location', `${TASKS}/${taskId}`);
    markReplay(c, replayed);
    return jsonText(c, body, 202);
  });
}
