import type pg from 'pg';
import type { Verdict } from '../domain/admission.ts';
import type { ItemGroup } from '../domain/admission-facts.ts';
import { PRICE_OF_MODE } from '../domain/admission-facts.ts';
import type { ModelTarget } from '../domain/model-alias.ts';
import { formatNumeric } from '../domain/money.ts';
import type { OveragePolicy } from '../domain/overage.ts';
import type { Quote } from '../domain/quote.ts';
import type { TaskType } from '../domain/task.ts';
import type { JobRow } from './job-rows.ts';
import { TERMS_COLUMNS, termsValues } from './storage-terms.ts';
import { toStoredQuote, toStoredRejections } from './submissions.ts';

/** A task that was judged, in all its rows but those of its money. */
export interface NewTaskRows {
  /** As it is to be stored: queued, with one item. */
  readonly job: JobRow;
  readonly taskType: TaskType;
  readonly priority: number;
  readonly createdAt: Date;
  readonly overagePolicy: OveragePolicy;
  readonly item: {
    /** JSON text. */
    readonly body: string;
    readonly bodyBytes: number;
    /** SHA-256 of `body`, as hex. */
    readonly requestHash: string;
    /** The one group that the item is. */
    readonly group: ItemGroup;
  };
  readonly target: ModelTarget;
  readonly quote: Quote;
  readonly verdict: Pick<Verdict, 'targets' | 'rejectedTargets'>;
}

/** The id its caller gave the item of a task: none. */
export const TASK_CUSTOM_ID = 'task';

/**
 * Two statements, since rows that hang on a job are let in only where the job can be seen, and a statement does not see what it
 * has written itself.
 */
export async function insertTaskRows(client: pg.PoolClient, task: NewTaskRows): Promise<void> {
  await insertOwner(client, task);
  await insertParts(client, task);
}

async function insertOwner(client: pg.PoolClient, task: NewTaskRows): Promise<void> {
  const { job, item, target, quote } = task;
  await client.query(
    `WITH task AS (
       INSERT INTO async_tasks (task_id, tenant_id, project_id, customer_id, task_type, priority, state, transitions,
         next_attempt_at, created_at)
       VALUES ($1, $3, $4, $5, $7, $8, 'QUEUED', 1, $9, $9)
     )
     INSERT INTO batch_jobs (job_id, bucket, kind, price_mode, tenant_id, project_id, customer_id, api_key_id, created_at,
       submitted_at, admitted_at, submitted_by, endpoint, requested_model, resolved_provider, resolved_provider_model, state,
       currency, submission_no, item_count, item_bytes, estimated_input_tokens, estimated_output_tokens, estimated_amount,
       reserved_amount, price_book_version, overage_policy, ${TERMS_COLUMNS})
     VALUES ($1, $2, 'task', '${PRICE_OF_MODE.direct}', $3, $4, $5, $6, $9, $9, $9, $6, $10, $11, $12, $13, 'queued', $14, $15,
       1, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26)`,
    [
      job.key.uuid,
      job.key.bucket,
      job.tenantId,
      job.projectId,
      job.customerId,
      job.apiKeyId,
      task.taskType,
      task.priority,
      task.createdAt,
      job.endpoint,
      job.requestedModel,
      target.provider,
      target.model,
      job.currency,
      job.submissionNo,
      item.bodyBytes,
      quote.inputTokens,
      quote.outputTokens,
      formatNumeric(quote.amount),
      formatNumeric(quote.reserved),
      quote.priceBookVersion,
      task.overagePolicy,
      ...termsValues(job.terms),
    ],
  );
}

async function insertParts(client: pg.PoolClient, task: NewTaskRows): Promise<void> {
  const { job, item, target, quote, verdict } = task;
  const { group } = item;
  const [line] = quote.lines;
  await client.query(
    `WITH item AS (
       INSERT INTO batch_items (bucket, job_id, item_no, manifest_no, custom_id, request_hash, request_bytes, requested_model, features,
         estimated_tokens, estimated_output_tokens, created_at)
       VALUES ($2, $1, 1, 1, '${TASK_CUSTOM_ID}', decode($4, 'hex'), $5, nullif($6, ''), $7, $9, $10, $3)
     ), request AS (
       INSERT INTO item_requests (bucket, job_id, item_no, body) VALUES ($2, $1, 1, $12)
     ), kind AS (
       INSERT INTO job_item_groups (job_id, manifest_no, requested_model, features, token_class, items, bytes, largest_bytes,
         input_tokens, output_tokens, uncapped_items)
       VALUES ($1, 1, $6, $7, $8, 1, $5, $5, $9, $10, $11)
     ), shard AS (
       INSERT INTO batch_shards (job_id, shard, first_item_no, last_item_no, requested_model, provider, provider_model, item_count, byte_count, created_at)
       VALUES ($1, 1, 1, 1, $6, $13, $14, 1, $5, $3)
     ), progress AS (
       INSERT INTO job_progress (job_id) VALUES ($1)
     ), estimate AS (
       INSERT INTO job_estimates (job_id, provider, model, items, estimated_amount) VALUES ($1, $15, $16, 1, $17)
     ), submission AS (
       INSERT INTO job_submissions (job_id, submission_no, accepted, quote, rejected_targets) VALUES ($1, $18, true, $19, $20)
     ), stages AS (
       INSERT INTO stage_times (job_id, shard, stage, since) VALUES ($1, 0, 'queued', $3), ($1, 1, 'queued', $3)
     )
     INSERT INTO task_transitions (task_id, transition_no, state, attempt, at) VALUES ($1, 1, 'QUEUED', 0, $3)`,
    [
      job.key.uuid,
      job.key.bucket,
      task.createdAt,
      item.requestHash,
      item.bodyBytes,
      group.requestedModel,
      group.features,
      group.tokenClass,
      group.inputTokens,
      group.outputTokens,
      group.uncappedItems,
      item.body,
      target.provider,
      target.model,
      line?.provider ?? target.provider,
      line?.model ?? target.model,
      formatNumeric(quote.amount),
      job.submissionNo,
      JSON.stringify(toStoredQuote(quote, verdict.targets)),
      JSON.stringify(toStoredRejections(verdict.rejectedTargets)),
    ],
  );
}
