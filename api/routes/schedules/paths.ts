import { z } from '@hono/zod-openapi';
import { ScheduleId } from '../../../contracts/batch-schedule.ts';
import { allow, TENANT_ROLES } from '../../middleware/allow.ts';

export const SCHEDULES = '/v1/batch-schedules';
export const SCHEDULE = `${SCHEDULES}/{schedule_id}`;

export const ScheduleParams = z.object({ schedule_id: ScheduleId });

export const SCHEDULE_ROUTE = { tags: ['Recurring jobs'], security: [{ bearer: [] }] };

export const tenantsOnly = allow({
  roles: TENANT_ROLES,
  scope: { read: 'schedules:read', write: 'schedules:write' },
});

export const MAX_BODY_BYTES = 4 * 1024 * 1024;
