import { BatchJob } from '../../contracts/job.ts';
import { OperatorJob } from '../../contracts/operator-job.ts';
import type { Result } from '../results/result-line.ts';

/** A job as the gateway shows it, a draft unless said otherwise. */
export function fakeJob(changes: Partial<BatchJob> = {}): BatchJob {
  return BatchJob.parse({
    job_id: 'job_1',
    name: null,
    tenant_id: 'tenant_local',
    project_id: null,
    customer_id: null,
    endpoint: 'chat.completions',
    model: 'analysis-small',
    status: 'draft',
    waiting: null,
    counts: counts(0),
    failures: {},
    progress: null,
    estimated_completion_at: null,
    cost: { estimated: null, reserved: '0.00', held: '0.00', settled: '0.00', currency: 'USD' },
    overage: null,
    created_at: '2026-08-19T10:00:00.000Z',
    submitted_at: null,
    completed_at: null,
    expires_at: null,
    retrieval_deadline: null,
    storage: 'raw',
    content_deleted_at: null,
    cancel: null,
    execution: { max_items_per_shard: null, region: null, providers: null, deadline: null, not_before: null },
    retry_policy: null,
    sample: null,
    sample_jobs: [],
    retry_of_job_id: null,
    retry_jobs: [],
    error: null,
    refusal: null,
    warnings: [],
    unmatched_lines: 0,
    metadata: {},
    ...changes,
  });
}

/** The job of a sample of a draft. */
export function fakeSample(draft: BatchJob, items: number): BatchJob {
  const { job_id: of_job_id, counts: of } = draft;
  const sample = { of_job_id, items, of_items: of.total, extrapolated_cost: null };
  return { ...draft, job_id: `${of_job_id}_sample`, counts: counts(items), sample };
}

/** The same job as an operator sees it. */
export function fakeOperatorJob(job: BatchJob): OperatorJob {
  const url = 'http://127.0.0.1:8233/namespaces/default/workflows/batch-job%2Fjob_1';
  return OperatorJob.parse({
    job,
    api_key_id: 'key_1',
    submission_no: 1,
    admitted_at: null,
    manifest_no: 1,
    resolved_provider: 'openai',
    resolved_provider_model: 'gpt-5.6-luna',
    price_book_version: '1',
    workflow: { workflow_id: 'batch-job/job_1', url, state_source: 'rows', state: {} },
    rejected_targets: [],
    capacity: [],
    shards: [fakeShard()],
    unmatched: { count: 0, lines: [] },
    acts: [
      {
        ...{ act: 'resolve', shard: 1, actor: 'key_operator', reason: 'the later one' },
        ...{ details: { provider_batch_id: 'batch_b' }, at: '2026-08-19T10:20:00.000Z' },
      },
    ],
  });
}

/** An indeterminate one, with two candidates. */
function fakeShard(): OperatorJob['shards'][number] {
  const none = { region: null, native_status: null, native_request_counts: null, native_errors: null };
  const candidate = { native_status: 'in_progress', created_at: '2026-08-19T10:05:00.000Z', native_request_counts: {} };
  return {
    ...{ shard: 1, state: 'indeterminate', attempt: 1, provider: 'anthropic', provider_model: 'claude' },
    ...{ requested_model: '', first_item_no: 1, last_item_no: 2, item_count: 2, byte_count: '200' },
    waiting: { reason: 'confirming_submission', since: '2026-08-19T10:06:00.000Z' },
    next_poll_at: '2026-08-19T10:16:00.000Z',
    ...{ settled_at: null, given_up_at: null, reread_requested_at: null },
    batches: [
      {
        ...{ attempt: 1, attempt_token: 'token_1', provider: 'anthropic', endpoint: 'chat.completions', ...none },
        ...{ credential_id: 'gateway', item_count: 2, provider_batch_id: null, input_file_id: null },
        ...{ output_file_id: null, error_file_id: null, operation_name: null, raw_error_pointer: null },
        ...{ create_outcome: null, create_started_at: null, create_deadline: null, accepted_at: null },
        ...{ expires_at: null, ended_at: null, batch_end: null, last_polled_at: null, poll_count: 0 },
        candidates: ['batch_a', 'batch_b'].map((id) => ({ provider_batch_id: id, ...candidate })),
        chosen_batch_id: null,
      },
    ],
  };
}

export function counts(total: number, changes: Partial<BatchJob['counts']> = {}): BatchJob['counts'] {
  return { total, submitted: total, completed: 0, failed: 0, expired: 0, cancelled: 0, retries: 0, ...changes };
}

/** A settled item that was answered, unless said otherwise. */
export function fakeResult(customId: string, changes: Partial<Result> = {}): Result {
  return {
    item_id: `item_${customId}`,
    custom_id: customId,
    status: 'completed',
    result: {
      object: 'chat.completion',
      choices: [{ index: 0, message: { role: 'assistant', content: `re ${customId}` } }],
    },
    content: 'stored',
    error: null,
    usage: {
      input_tokens: 3,
      cached_input_tokens: 0,
      cache_write_tokens: 0,
      output_tokens: 2,
      reasoning_tokens: 0,
      estimated: false,
    },
    cost: '0.0001',
    refunded: '0.00',
    currency: 'USD',
    model: 'gpt-5.6-luna',
    request_hash: `sha256:${'0'.repeat(64)}`,
    response_hash: `sha256:${'1'.repeat(64)}`,
    needs_review: false,
    retry_of_item_id: null,
    retried_by_item_id: null,
    attempts: 1,
    settled_at: '2026-08-19T10:10:00.000Z',
    ...changes,
  };
}
