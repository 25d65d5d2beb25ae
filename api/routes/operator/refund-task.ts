import { createRoute, z } from '@hono/zod-openapi';
import { IdempotencyHeader } from '../../../contracts/headers.ts';
import { RefundItem, TaskRefund } from '../../../contracts/refund.ts';
import { TaskId } from '../../../contracts/task.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp } from '../../env.ts';
import { idempotencyOf } from '../../middleware/idempotency.ts';
import { readJsonBody } from '../../middleware/read-json-body.ts';
import { refundTask } from '../../operations/refund-task.ts';
import { keptAnswer } from '../../respond.ts';
import { errorResponses, jsonBody, jsonResponse } from '../../responses.ts';
import { OPERATOR_ROUTE, operatorsOnly } from './paths.ts';

const MAX_BODY_BYTES = 64 * 1024;

const refund = createRoute({
  ...OPERATOR_ROUTE,
  method: 'post',
  operationId: 'operator_refund_task',
  summary: 'Give back what a task was charged',
  description:
    'Once for a task, whole or in part; the same refund again answers the first and changes nothing. Budgets and usage exports ' +
    'count what is left.',
  path: '/v1/operator/tasks/{task_id}/refund',
  middleware: [operatorsOnly, readJsonBody(MAX_BODY_BYTES)],
  request: {
    params: z.object({ task_id: TaskId }),
    headers: IdempotencyHeader,
    body: jsonBody(RefundItem, { required: true }),
  },
  responses: { 200: jsonResponse(TaskRefund, 'The refund.'), ...errorResponses(404, 409, 413, 415) },
});

export function registerOperatorRefundTask(app: ApiApp, dependencies: ApiDependencies): void {
  app.openapi(refund, async (c) => {
    const answer = await refundTask(dependencies, {
      principal: c.var.principal,
      taskId: c.req.valid('param').task_id,
      refund: c.req.valid('json'),
      idempotency: idempotencyOf(c, dependencies.now()),
    });
    return keptAnswer(c, answer, 200);
  });
}
