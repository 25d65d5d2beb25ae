import { z } from 'zod';
import { SHARD_STATES } from '../domain/shard-state.ts';
import { BatchJob } from './job.ts';
import { OperatorActEntry } from './operator-act.ts';
import { ProviderName } from './provider.ts';
import { RejectedTarget } from './quote.ts';
import { Timestamp } from './text.ts';

const CREATE_OUTCOMES = ['accepted', 'refused', 'not_found', 'not_sent'] as const;

const CandidateBatch = z
  .object({
    provider_batch_id: z.string(),
    native_status: z.string(),
    created_at: Timestamp.nullable(),
    native_request_counts: z.unknown(),
  })
  .meta({ id: 'CandidateBatch', description: 'A batch that may be the one of an unanswered create.' });

const ProviderBatch = z
  .object({
    attempt: z.int(),
    attempt_token: z.string(),
    provider: ProviderName,
    endpoint: z.string(),
    region: z.string().nullable(),
    credential_id: z.string(),
    item_count: z.int(),
    provider_batch_id: z.string().nullable(),
    input_file_id: z.string().nullable(),
    output_file_id: z.string().nullable(),
    error_file_id: z.string().nullable(),
    operation_name: z.string().nullable(),
    native_status: z.string().nullable(),
    native_request_counts: z.unknown(),
    native_errors: z.unknown().meta({ description: 'What the provider’s own validation of the batch said.' }),
    raw_error_pointer: z.string().nullable(),
    create_outcome: z.enum(CREATE_OUTCOMES).nullable(),
    create_started_at: Timestamp.nullable(),
    create_deadline: Timestamp.nullable(),
    accepted_at: Timestamp.nullable(),
    expires_at: Timestamp.nullable(),
    ended_at: Timestamp.nullable(),
    batch_end: z.string().nullable(),
    last_polled_at: Timestamp.nullable(),
    poll_count: z.int(),
    candidates: z.array(CandidateBatch).nullable().meta({
      description: 'What the last look found, where more than one batch may be the attempt’s.',
    }),
    chosen_batch_id: z.string().nullable().meta({
      description: 'Chosen by hand; taken once the provider has shown that it fits.',
    }),
  })
  .meta({
    id: 'ProviderBatch',
    description: 'One attempt to have a provider run a shard, in the provider’s own words.',
  });

const Shard = z
  .object({
    shard: z.int(),
    state: z.enum(SHARD_STATES),
    attempt: z.int(),
    provider: ProviderName,
    provider_model: z.string(),
    requested_model: z.string(),
    first_item_no: z.int(),
    last_item_no: z.int(),
    item_count: z.int(),
    byte_count: z.string(),
    waiting: z.object({ reason: z.string(), since: Timestamp.nullable() }).nullable(),
    next_poll_at: Timestamp.nullable(),
    settled_at: Timestamp.nullable(),
    given_up_at: Timestamp.nullable().meta({ description: 'When an operator gave it up.' }),
    reread_requested_at: Timestamp.nullable().meta({
      description: 'Its results are to be read once more; null once they were.',
    }),
    batches: z.array(ProviderBatch),
  })
  .meta({ id: 'Shard' });

const ProviderCapacity = z
  .object({
    credential_id: z.string(),
    provider: ProviderName,
    provider_model: z.string(),
    full_since: Timestamp.nullable(),
    last_refused_at: Timestamp.nullable(),
    last_reason: z.string().nullable().meta({ description: 'The provider’s own words.' }),
    next_try_at: Timestamp.nullable().meta({
      description: 'When the first of those that wait tries, if nothing ends before.',
    }),
    known_limit: z
      .object({ input_tokens: z.number().nullable(), items: z.number().nullable() })
      .meta({ description: 'As the provider named it in a refusal.' }),
    in_use: z.object({ batches: z.int(), items: z.number(), input_tokens: z.number() }).meta({
      description: 'What open batches of all jobs hold; tokens are the gateway’s estimate.',
    }),
  })
  .meta({ id: 'ProviderCapacity', description: 'A provider’s queue for one credential and model.' });

const UnmatchedLine = z
  .object({
    shard: z.int(),
    attempt: z.int(),
    file: z.int(),
    line: z.int(),
    reason: z.string(),
    provider_item_id: z.string().nullable(),
    raw_base64: z.string().meta({ description: 'The first bytes of the line, base64.' }),
    raw_bytes: z.int().meta({ description: 'How long the line is.' }),
  })
  .meta({ id: 'UnmatchedLine' });

const Workflow = z
  .object({
    workflow_id: z.string(),
    url: z.string().nullable().meta({ description: 'The workflow in the Temporal Web UI.' }),
    state_source: z.enum(['workflow', 'rows']).meta({
      description: 'Whether the workflow itself answered, or it did not in time and the rows stand in for it.',
    }),
    state: z.unknown(),
  })
  .meta({ id: 'WorkflowView' });

export const OperatorJob = z
  .object({
    job: BatchJob,
    api_key_id: z.string(),
    submission_no: z.int(),
    admitted_at: Timestamp.nullable(),
    manifest_no: z.int(),
    resolved_provider: z.string().nullable(),
    resolved_provider_model: z.string().nullable(),
    price_book_version: z.string().nullable(),
    rejected_targets: z.array(RejectedTarget).meta({
      description: 'Of the last submission that was judged: targets that could not run it, and why.',
    }),
    workflow: Workflow,
    shards: z.array(Shard),
    capacity: z.array(ProviderCapacity),
    unmatched: z.object({ count: z.int(), lines: z.array(UnmatchedLine) }).meta({
      description:
        'Result lines that belong to no item of their batch, or (in files 101 and 102) came after their item had ended: ' +
        'the count, and the first hundred.',
    }),
    acts: z.array(OperatorActEntry).meta({
      description: 'What operators did to the job and what came of it, oldest first.',
    }),
  })
  .meta({ id: 'OperatorJob' });
export type OperatorJob = z.infer<typeof OperatorJob>;

const LedgerDifference = z
  .object({ subject: z.string(), check: z.string(), found: z.string(), expected: z.string() })
  .meta({ id: 'LedgerDifference', description: 'One thing that does not add up.' });

export const LedgerVerification = z
  .object({
    ok: z.boolean(),
    jobs: z.int().meta({ description: 'Jobs looked at.' }),
    items: z.int().meta({ description: 'Charges computed again.' }),
    differences: z.array(LedgerDifference),
  })
  .meta({ id: 'LedgerVerification' });
export type LedgerVerification = z.infer<typeof LedgerVerification>;

export const PollNowAccepted = z.object({ job_id: z.string(), signalled: z.boolean() }).meta({ id: 'PollNowAccepted' });
export type PollNowAccepted = z.infer<typeof PollNowAccepted>;

export const LedgerVerifyQuery = z.strictObject({ job_id: z.string().min(1).max(200).optional() });
