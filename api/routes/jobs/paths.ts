import { z } from '@hono/zod-openapi';
import { JobId } from '../../../contracts/job.ts';
import { requireRole, TENANT_ROLES } from '../../middleware/require-role.ts';

export const JOBS = '/v1/batch-jobs';
export const JOB = `${JOBS}/{job_id}`;

export const JobParams = z.object({ job_id: JobId });

/** What every route about jobs declares. */
export const JOB_ROUTE = { tags: ['Batch jobs'], security: [{ bearer: [] }] };

export const tenantsOnly = requireRole(TENANT_ROLES);
