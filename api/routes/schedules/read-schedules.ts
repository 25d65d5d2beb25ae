import { createRoute } from '@hono/zod-openapi';
import { BatchSchedule, BatchScheduleList, ListSchedulesQuery } from '../../../contracts/batch-schedule.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp } from '../../env.ts';
import { getSchedule, listOwnedSchedules } from '../../operations/schedules.ts';
import { errorResponses, jsonResponse } from '../../responses.ts';
import { SCHEDULE, SCHEDULE_ROUTE, SCHEDULES, ScheduleParams, tenantsOnly } from './paths.ts';

const listRoute = createRoute({
  ...SCHEDULE_ROUTE,
  operationId: 'list_schedules',
  summary: 'List schedules, newest first',
  method: 'get',
  path: SCHEDULES,
  middleware: tenantsOnly,
  request: { query: ListSchedulesQuery },
  responses: { 200: jsonResponse(BatchScheduleList, 'A page of schedules.'), ...errorResponses() },
});

const getRoute = createRoute({
  ...SCHEDULE_ROUTE,
  operationId: 'get_schedule',
  summary: 'A schedule, its next runs and its last',
  method: 'get',
  path: SCHEDULE,
  middleware: tenantsOnly,
  request: { params: ScheduleParams },
  responses: { 200: jsonResponse(BatchSchedule, 'The schedule.'), ...errorResponses(404) },
});

export function registerReadSchedules(app: ApiApp, dependencies: ApiDependencies): void {
  app.openapi(listRoute, async (c) => {
    const page = await listOwnedSchedules(dependencies, { principal: c.var.principal, query: c.req.valid('query') });
    return c.json(page, 200);
  });
  app.openapi(getRoute, async (c) => {
    const { schedule_id: scheduleId } = c.req.valid('param');
    return c.json(await getSchedule(dependencies, { principal: c.var.principal, scheduleId }), 200);
  });
}
