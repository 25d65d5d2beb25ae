import { z } from 'zod';
import { STORAGE_POLICIES } from '../domain/tenant-policy.ts';
import { JobId } from './job.ts';
import { ProviderName } from './provider.ts';
import { Timestamp } from './text.ts';

const Kept = z
  .object({
    kind: z.enum(['requests', 'results', 'artifacts', 'provider_files']).meta({
      description:
        '`requests`: request bodies. `results`: replies. `artifacts`: copies of the provider’s own result files. ' +
        '`provider_files`: what a provider was sent and has answered with.',
    }),
    held_by: z.union([z.literal('gateway'), ProviderName]),
    until: Timestamp.nullable().meta({
      description:
        'For a provider the earliest day on which it deletes its files by itself, or the gateway has them deleted. Null where ' +
        'no end is set, or is not known before the job has ended.',
    }),
    deleted_at: Timestamp.nullable(),
  })
  .meta({ id: 'KeptContent' });

export const JobStorage = z
  .object({
    job_id: JobId,
    storage: z.enum(STORAGE_POLICIES),
    kept: z.array(Kept).meta({ description: 'What is, or was, kept of the job’s content, and by whom.' }),
    raw_input_stored: z.boolean().meta({ description: 'The gateway has the request bodies.' }),
    raw_output_stored: z
      .boolean()
      .meta({ description: 'The gateway has the provider’s own result files, all that came.' }),
    raw_output_note: z
      .enum(['policy', 'none', 'incomplete', 'deleted'])
      .nullable()
      .meta({
        description:
          'Why not. `policy`: the job’s storage is not `raw`. `none`: none has come, or the gateway has no artifact store. ' +
          '`incomplete`: the store did not take all of them; results are not affected. `deleted`: with the job’s content.',
      }),
    artifact_location: z.string().nullable().meta({ description: 'Where it has them, within its artifact store.' }),
    results_readable_until: Timestamp.nullable().meta({ description: 'As `retrieval_deadline` of the job.' }),
    provider_retrieval_deadline: Timestamp.nullable().meta({
      description: 'The earliest day on which a provider forgets the job’s results.',
    }),
    gateway_deletion_deadline: Timestamp.nullable().meta({
      description: 'When the gateway deletes, or deleted, what it keeps; null while the job is open, and for never.',
    }),
    request_body_deleted_at: Timestamp.nullable(),
    content_deleted_at: Timestamp.nullable(),
    provider_files_deleted_at: Timestamp.nullable(),
    hashes: z
      .object({ requests: z.int(), responses: z.int() })
      .meta({ description: 'SHA-256 hashes that are kept, whatever else is.' }),
  })
  .meta({ id: 'BatchJobStorage' });
export type JobStorage = z.infer<typeof JobStorage>;
