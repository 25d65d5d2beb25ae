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
    content_deleted_at: null,
    cancel: null,
    sample: null,
    sample_jobs: [],
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
    shards: [],
    unmatched: { count: 0, lines: [] },
  });
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
    retry_of_item_id: null,
    retried_by_item_id: null,
    attempts: 1,
    settled_at: '2026-08-19T10:10:00.000Z',
    ...changes,
  };
}
