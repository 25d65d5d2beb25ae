import { z } from '@hono/zod-openapi';
import { JobId } from '../../../contracts/job.ts';
import { allow, TENANT_ROLES } from '../../middleware/allow.ts';

export const JOBS = '/v1/batch-jobs';
export const JOB = `${JOBS}/{job_id}`;

export const JobParams = z.object({ job_id: JobId });

/** What every route about jobs declares. */
export const JOB_ROUTE = { tags: ['Batch jobs'], security: [{ bearer: [] }] };

/** Jobs, and the scopes `jobs:read` and `jobs:write`. */
export const tenantsOnly = allow({ roles: TENANT_ROLES, scope: { read: 'jobs:read', write: 'jobs:write' } });

/** What billing systems read. */
export const usageReaders = allow({ roles: TENANT_ROLES, scope: 'usage:read' });
