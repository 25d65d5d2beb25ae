import { z } from 'zod';
import { FAILURE_CLASSES } from '../domain/failure.ts';
import { JOB_STATES } from '../domain/job-state.ts';
import { OVERAGE_OUTCOMES, OVERAGE_POLICIES } from '../domain/overage.ts';
import { ENDPOINTS } from '../domain/provider.ts';
import { STORAGE_POLICIES } from '../domain/tenant-policy.ts';
import { Refusal } from './error.ts';
import { isStorable } from './metadata.ts';
import { Currency, Money } from './money.ts';
import { NextCursor, PageQuery } from './pagination.ts';
import { RetryPolicy } from './retry-policy.ts';
import { plainText, Timestamp, TimestampInput } from './text.ts';

export const JobId = z.string().meta({ description: 'A job id.', example: 'job_01j7zb8k3te9aabfm0z0e2d3k4' });

export const JobStatus = z.enum(JOB_STATES).meta({ id: 'BatchJobStatus' });

const Counts = z
  .object({
    total: z.int(),
    submitted: z.int().meta({ description: 'Items locked at submit; 0 in a draft.' }),
    completed: z.int(),
    failed: z.int(),
    expired: z.int(),
    cancelled: z.int(),
    retries: z.int(),
  })
  .meta({ description: 'From the states of the job’s own items, never from a provider’s counts.' });

const Cost = z.object({
  estimated: Money.nullable(),
  reserved: Money.meta({ description: 'Held at submit; constant from then on.' }),
  held: Money.meta({ description: 'Still held.' }),
  settled: Money.meta({ description: 'Charged so far.' }),
  currency: Currency,
});

const Overage = z.object({ amount: Money, policy: z.enum(OVERAGE_POLICIES), outcome: z.enum(OVERAGE_OUTCOMES) }).meta({
  description:
    'What the job cost above `cost.reserved` when it ended, under the policy it was accepted with. `absorbed`: by the ' +
    'gateway, so that `cost.settled` ended at what was reserved. Null without overage, and before the end.',
});

const Progress = z
  .object({ completed: z.int().nullable(), failed: z.int().nullable(), as_of: Timestamp })
  .meta({ description: 'The provider’s word: a hint, never counts and never money.' });

const Cancel = z.object({
  requested_at: Timestamp,
  by: z.string().nullable(),
  reason: z.string().nullable(),
  outcome: z.enum(['effective', 'partial', 'too_late']).nullable(),
});

const Sample = z
  .object({
    of_job_id: z.string(),
    items: z.int(),
    of_items: z.int().meta({ description: 'Items of the draft when the sample was taken.' }),
    extrapolated_cost: Money.nullable().meta({
      description:
        'What all of them would cost at the mean of those that completed or failed: exact, a tie to the even neighbour. ' +
        'Null until one has.',
    }),
  })
  .meta({ description: 'Of which draft this job runs some items.' });

const ExecutionView = z
  .object({
    max_items_per_shard: z.int().nullable(),
    region: z.string().nullable(),
    providers: z.array(z.string()).nullable(),
    deadline: Timestamp.nullable(),
    not_before: Timestamp.nullable(),
  })
  .meta({ description: 'How the job was asked to be run; null for what was left open.' });

const JobWarning = z
  .object({
    code: z.string(),
    message: z.string(),
    needed: Money.optional().meta({ description: 'Of a wave of retries: what it would have held.' }),
    left: Money.optional().meta({ description: 'Of a wave of retries: what was left of the job’s hold.' }),
  })
  .meta({ id: 'BatchJobWarning' });

export const BatchJob = z
  .object({
    job_id: JobId,
    name: z.string().nullable(),
    tenant_id: z.string(),
    project_id: z.string().nullable(),
    customer_id: z.string().nullable(),
    endpoint: z.enum(ENDPOINTS),
    model: z.string(),
    status: JobStatus,
    waiting: z
      .object({ reason: z.string(), since: Timestamp })
      .nullable()
      .meta({ description: 'Why nothing moves: capacity, credential, trouble at the provider, `not_before`.' }),
    counts: Counts,
    failures: z
      .partialRecord(z.enum(FAILURE_CLASSES), z.int())
      .meta({ description: 'Items that did not complete, by class.' }),
    progress: Progress.nullable(),
    estimated_completion_at: Timestamp.nullable(),
    cost: Cost,
    overage: Overage.nullable(),
    created_at: Timestamp,
    submitted_at: Timestamp.nullable(),
    completed_at: Timestamp.nullable(),
    expires_at: Timestamp.nullable().meta({
      description:
        'When the last of the providers’ windows closes, or the job’s own deadline passes if that is sooner.',
    }),
    retrieval_deadline: Timestamp.nullable().meta({
      description:
        'Until when results can be had; null before a provider has accepted the job, and where they are kept until they are ' +
        'deleted. While a job that the gateway keeps the results of is open: at least until then.',
    }),
    storage: z.enum(STORAGE_POLICIES).meta({ description: 'What is kept of requests and results; see `storage`.' }),
    content_deleted_at: Timestamp.nullable(),
    cancel: Cancel.nullable(),
    execution: ExecutionView,
    retry_policy: RetryPolicy.nullable().meta({
      description: 'Which failed items the job tries again by itself; null for none.',
    }),
    sample: Sample.nullable(),
    sample_jobs: z
      .array(z.string())
      .meta({ description: 'Jobs that ran a sample of this one, newest first, at most 100.' }),
    retry_of_job_id: z.string().nullable().meta({ description: 'The job whose failed items this one retries.' }),
    retry_jobs: z
      .array(z.string())
      .meta({ description: 'Jobs that retry items of this one, newest first, at most 100.' }),
    error: z.looseObject({ code: z.string(), message: z.string() }).nullable(),
    refusal: Refusal.nullable().meta({ description: 'Why the last submit of this draft was refused.' }),
    warnings: z.array(JobWarning),
    unmatched_lines: z.int().meta({ description: 'Result lines that belong to no item; never charged.' }),
    metadata: z.record(z.string(), z.string()),
  })
  .meta({ id: 'BatchJob' });
export type BatchJob = z.infer<typeof BatchJob>;

export const BatchJobList = z.object({ data: z.array(BatchJob), next_cursor: NextCursor }).meta({ id: 'BatchJobList' });

const METADATA_FILTER = /^metadata\[(.+)\]$/s;

/** Query of a list of jobs; `metadata[key]=value` may be given any number of times. */
export const ListJobsQuery = z
  .looseObject({
    ...PageQuery,
    status: z.enum(JOB_STATES).optional(),
    customer_id: plainText(200).optional(),
    project_id: plainText(200).optional(),
    api_key_id: plainText(200).optional(),
    model: plainText(200).optional(),
    created_after: TimestampInput.optional().meta({ description: 'Created at or after this time.' }),
    created_before: TimestampInput.optional().meta({ description: 'Created before this time.' }),
  })
  .superRefine((query, context) => {
    for (const [name, value] of Object.entries(query)) {
      if (Object.hasOwn(ListJobsQuery.shape, name)) continue;
      if (!METADATA_FILTER.test(name)) context.addIssue({ code: 'unrecognized_keys', keys: [name], input: query });
      else if (!isStorable(name) || typeof value !== 'string' || !isStorable(value)) {
        context.addIssue({
          code: 'custom',
          path: [name],
          message: 'must be given once, as well-formed text without NUL',
        });
      }
    }
  });
export type ListJobsQuery = z.infer<typeof ListJobsQuery>;
