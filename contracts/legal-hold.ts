import { z } from 'zod';
import { JobId } from './job.ts';
import { NextCursor, PageQuery } from './pagination.ts';
import { plainText, Timestamp } from './text.ts';

export const HoldId = z
  .string()
  .meta({ description: 'A legal hold’s id.', example: 'hold_01j7zb8k3te9aabfm0z0e2d3k4' });

export const LegalHold = z
  .object({
    hold_id: HoldId,
    tenant_id: z.string(),
    customer_id: z.string().nullable(),
    job_id: JobId.nullable(),
    reason: z.string(),
    set_by: z.string().meta({ description: 'The id of the admin’s key.' }),
    set_at: Timestamp,
    lifted_at: Timestamp.nullable(),
    lifted_by: z.string().nullable(),
  })
  .meta({
    id: 'LegalHold',
    description: 'Content that is not deleted while it stands: of a job, of a customer, or of the whole tenant.',
  });
export type LegalHold = z.infer<typeof LegalHold>;

export const LegalHoldList = z
  .object({ data: z.array(LegalHold), next_cursor: NextCursor })
  .meta({ id: 'LegalHoldList' });
export type LegalHoldList = z.infer<typeof LegalHoldList>;

export const LegalHoldQuery = z.strictObject({
  ...PageQuery,
  lifted: z
    .enum(['exclude', 'include'])
    .default('exclude')
    .meta({ description: 'Whether those that were lifted are listed too.' }),
});
export type LegalHoldQuery = z.infer<typeof LegalHoldQuery>;

export const SetLegalHold = z
  .strictObject({
    reason: plainText(500).meta({ description: 'Why, for whoever looks later.', example: 'Case 2026-114' }),
    job_id: JobId.optional().meta({ description: 'Of this job, task or run alone.' }),
    customer_id: z.string().min(1).max(200).optional().meta({ description: 'Of all jobs of this customer.' }),
  })
  .refine(({ job_id, customer_id }) => job_id === undefined || customer_id === undefined, {
    path: ['customer_id'],
    error: 'is not given together with job_id: a hold is of a job, of a customer, or with neither of the tenant',
  })
  .meta({ id: 'SetLegalHold' });
export type SetLegalHold = z.infer<typeof SetLegalHold>;
