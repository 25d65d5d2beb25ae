import { createRoute, z } from '@hono/zod-openapi';
import { BatchSchedule, ScheduleTriggered, UpdateSchedule } from '../../../contracts/batch-schedule.ts';
import { IdempotencyHeader } from '../../../contracts/headers.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp } from '../../env.ts';
import { idempotencyOf } from '../../middleware/idempotency.ts';
import { readJsonBody } from '../../middleware/read-json-body.ts';
import { changeSchedule, removeSchedule, runSchedule } from '../../operations/change-schedule.ts';
import { keptAnswer } from '../../respond.ts';
import { errorResponses, jsonBody, jsonResponse } from '../../responses.ts';
import { MAX_BODY_BYTES, SCHEDULE, SCHEDULE_ROUTE, ScheduleParams, tenantsOnly } from './paths.ts';

const updateRoute = createRoute({
  ...SCHEDULE_ROUTE,
  operationId: 'update_schedule',
  summary: 'Pause, resume or change a schedule',
  description: 'Runs under way go on as they were begun. Template and items cannot be changed: make another schedule.',
  method: 'patch',
  path: SCHEDULE,
  middleware: [tenantsOnly, readJsonBody(MAX_BODY_BYTES)] as const,
  request: { params: ScheduleParams, body: jsonBody(UpdateSchedule, { required: true }) },
  responses: { 200: jsonResponse(BatchSchedule, 'The schedule as it is now.'), ...errorResponses(404, 413, 415) },
});

const runRoute = createRoute({
  ...SCHEDULE_ROUTE,
  operationId: 'run_schedule',
  summary: 'Fire a schedule now',
  description: 'Paused or not. The run appears among the schedule’s runs within moments.',
  method: 'post',
  path: `${SCHEDULE}/run`,
  middleware: [tenantsOnly, readJsonBody(MAX_BODY_BYTES)] as const,
  request: {
    params: ScheduleParams,
    headers: IdempotencyHeader,
    body: jsonBody(z.strictObject({}), { required: false }),
  },
  responses: { 202: jsonResponse(ScheduleTriggered, 'Fired.'), ...errorResponses(404, 409, 413, 415) },
});

const deleteRoute = createRoute({
  ...SCHEDULE_ROUTE,
  operationId: 'delete_schedule',
  summary: 'Delete a schedule',
  description: 'It fires no more. Jobs it has made stay.',
  method: 'delete',
  path: SCHEDULE,
  middleware: tenantsOnly,
  request: { params: ScheduleParams },
  responses: { 204: { description: 'Deleted.' }, ...errorResponses(404) },
});

export function registerChangeSchedule(app: ApiApp, dependencies: ApiDependencies): void {
  app.openapi(updateRoute, async (c) => {
    const { schedule_id: scheduleId } = c.req.valid('param');
    const request = { principal: c.var.principal, scheduleId, change: c.req.valid('json') };
    return c.json(await changeSchedule(dependencies, request), 200);
  });
  app.openapi(runRoute, async (c) => {
    const { schedule_id: scheduleId } = c.req.valid('param');
    const idempotency = idempotencyOf(c, dependencies.now());
    const answer = await runSchedule(dependencies, { principal: c.var.principal, scheduleId, idempotency });
    return keptAnswer(c, answer, 202);
  });
  app.openapi(deleteRoute, async (c) => {
    const { schedule_id: scheduleId } = c.req.valid('param');
    await removeSchedule(dependencies, { principal: c.var.principal, scheduleId });
    return c.body(null, 204);
  });
}
