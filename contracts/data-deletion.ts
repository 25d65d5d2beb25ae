import { z } from 'zod';
import { JobId } from './job.ts';
import { NextCursor } from './pagination.ts';
import { ProviderName } from './provider.ts';
import { plainText, Timestamp } from './text.ts';

export const DeletionId = z
  .string()
  .meta({ description: 'A deletion’s id.', example: 'del_01j7zb8k3te9aabfm0z0e2d3k4' });

const SUMMARY = {
  deletion_id: DeletionId,
  tenant_id: z.string(),
  customer_id: z.string(),
  reason: z.string(),
  state: z.enum(['running', 'completed']).meta({
    description: '`running` also while it waits: for jobs to end, for holds to be lifted, for a provider to answer.',
  }),
  requested_by: z.string().meta({ description: 'The id of the admin’s key.' }),
  requested_at: Timestamp,
  completed_at: Timestamp.nullable(),
};

export const RequestDeletion = z
  .strictObject({
    reason: plainText(500).meta({ description: 'Why, for whoever looks later.', example: 'Contract ended.' }),
  })
  .meta({ id: 'RequestDeletion' });
export type RequestDeletion = z.infer<typeof RequestDeletion>;

const DataDeletionSummary = z.object(SUMMARY).meta({ id: 'DataDeletionSummary' });

export const DataDeletionList = z
  .object({ data: z.array(DataDeletionSummary), next_cursor: NextCursor })
  .meta({ id: 'DataDeletionList' });
export type DataDeletionList = z.infer<typeof DataDeletionList>;

export const DataDeletion = z
  .object({
    ...SUMMARY,
    deleted: z
      .object({
        jobs: z.int().meta({ description: 'Whose content is gone; their accounts stay.' }),
        drafts: z.int(),
        requests: z.int().meta({ description: 'Of items of those jobs.' }),
        results: z.int(),
        artifacts: z.int(),
        documents: z.int().meta({ description: 'Whose file and rows are gone.' }),
        provider_batches: z.int().meta({ description: 'Whose files were deleted at their provider.' }),
      })
      .meta({ description: 'Of the jobs that there were at the request.' }),
    waiting: z.object({
      open_jobs: z.int().meta({ description: 'Deleted once they have ended.' }),
      jobs_being_removed: z.int(),
      held_jobs: z.int().meta({ description: 'Under a legal hold: deleted once it is lifted.' }),
      artifacts: z.int(),
      documents: z.int().meta({ description: 'That are being processed, or removed.' }),
      held_documents: z.int().meta({ description: 'Under a legal hold.' }),
    }),
    left_at_providers: z
      .array(
        z.object({
          job_id: JobId,
          provider: ProviderName,
          batches: z.int(),
          expires_at: Timestamp.nullable().meta({ description: 'When the provider deletes its files by itself.' }),
        }),
      )
      .meta({ description: 'Files that could not be deleted yet, at most 100 entries.' }),
    kept: z
      .array(
        z.object({
          what: z.enum(['accounts', 'hashes', 'audit_log', 'schedules']),
          count: z.int().nullable(),
          why: z.string(),
        }),
      )
      .meta({ description: 'What no deletion takes, and why.' }),
  })
  .meta({ id: 'DataDeletion', description: 'A deletion of all content of a customer, as it is now.' });
export type DataDeletion = z.infer<typeof DataDeletion>;
