import { z } from '@hono/zod-openapi';
import { ScheduleId } from '../../../contracts/batch-schedule.ts';
import { requireRole, TENANT_ROLES } from '../../middleware/require-role.ts';

export const SCHEDULES = '/v1/batch-schedules';
export const SCHEDULE = `${SCHEDULES}/{schedule_id}`;

export const ScheduleParams = z.object({ schedule_id: ScheduleId });

export const SCHEDULE_ROUTE = { tags: ['Recurring jobs'], security: [{ bearer: [] }] };

export const tenantsOnly = requireRole(TENANT_ROLES);

export const MAX_BODY_BYTES = 4 * 1024 * 1024;
