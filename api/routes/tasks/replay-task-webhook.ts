import { createRoute, z } from '@hono/zod-openapi';
import { IdempotencyHeader } from '../../../contracts/headers.ts';
import { TaskReplay } from '../../../contracts/task.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp } from '../../env.ts';
import { idempotencyOf } from '../../middleware/idempotency.ts';
import { readJsonBody } from '../../middleware/read-json-body.ts';
import { replayTaskWebhook } from '../../operations/replay-task-webhook.ts';
import { keptAnswer } from '../../respond.ts';
import { jsonBody, jsonResponse, taskErrorResponses } from '../../responses.ts';
import { TASK, TASK_ROUTE, TaskParams, tenantsOnly } from './paths.ts';

const MAX_BODY_BYTES = 64 * 1024;

const route = createRoute({
  ...TASK_ROUTE,
  operationId: 'replay_task_webhook',
  summary: 'Send the webhook of a task once more',
  description:
    'For 24 hours after its end: one that was delivered or given up, with the same event id and the same bytes, tried for as long as ' +
    'the first time.',
  method: 'post',
  path: `${TASK}/webhook/replay`,
  middleware: [tenantsOnly, readJsonBody(MAX_BODY_BYTES)] as const,
  request: {
    params: TaskParams,
    headers: IdempotencyHeader,
    body: jsonBody(z.strictObject({}), { required: false }),
  },
  responses: { 202: jsonResponse(TaskReplay, 'On its way.'), ...taskErrorResponses(404, 409, 410, 413, 415) },
});

export function registerReplayTaskWebhook(app: ApiApp, dependencies: ApiDependencies): void {
  app.openapi(route, async (c) => {
    const { id: taskId } = c.req.valid('param');
    const idempotency = idempotencyOf(c, dependencies.now());
    const request = { principal: c.var.principal, taskId, idempotency };
    return keptAnswer(c, await replayTaskWebhook(dependencies, request), 202);
  });
}
