import { z } from '@hono/zod-openapi';
import { TaskId } from '../../../contracts/task.ts';
import { allow, TENANT_ROLES } from '../../middleware/allow.ts';

export const TASKS = '/v1/async/task';
export const TASK = `${TASKS}/{id}`;

export const TaskParams = z.object({ id: TaskId });

/** What every route about tasks declares. */
export const TASK_ROUTE = { tags: ['Tasks'], security: [{ bearer: [] }] };

export const tenantsOnly = allow({ roles: TENANT_ROLES, scope: { read: 'tasks:read', write: 'tasks:write' } });
