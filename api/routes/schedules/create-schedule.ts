import { createRoute } from '@hono/zod-openapi';
import { BatchSchedule, CreateSchedule } from '../../../contracts/batch-schedule.ts';
import { IdempotencyHeader } from '../../../contracts/headers.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp } from '../../env.ts';
import { idempotencyOf } from '../../middleware/idempotency.ts';
import { readJsonBody } from '../../middleware/read-json-body.ts';
import { createSchedule } from '../../operations/create-schedule.ts';
import { keptAnswer } from '../../respond.ts';
import { errorResponses, jsonBody, jsonResponse } from '../../responses.ts';
import { MAX_BODY_BYTES, SCHEDULE_ROUTE, SCHEDULES, tenantsOnly } from './paths.ts';

const route = createRoute({
  ...SCHEDULE_ROUTE,
  operationId: 'create_schedule',
  summary: 'Have a job made again and again',
  description: 'At each firing a draft is made of the template, gets its items, and is submitted like any other.',
  method: 'post',
  path: SCHEDULES,
  middleware: [tenantsOnly, readJsonBody(MAX_BODY_BYTES)] as const,
  request: { headers: IdempotencyHeader, body: jsonBody(CreateSchedule, { required: true }) },
  responses: { 201: jsonResponse(BatchSchedule, 'The schedule.'), ...errorResponses(404, 409, 410, 413, 415, 422) },
});

export function registerCreateSchedule(app: ApiApp, dependencies: ApiDependencies): void {
  app.openapi(route, async (c) => {
    const answer = await createSchedule(dependencies, {
      principal: c.var.principal,
      schedule: c.req.valid('json'),
      idempotency: idempotencyOf(c, dependencies.now()),
    });
    return keptAnswer(c, answer, 201);
  });
}
