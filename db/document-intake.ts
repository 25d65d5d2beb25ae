import type pg from 'pg';
import type { Verdict } from '../domain/admission.ts';
import type { ItemGroup } from '../domain/admission-facts.ts';
import { formatNumeric } from '../domain/money.ts';
import type { Quote } from '../domain/quote.ts';
import { insertJobEstimates } from './job-estimates.ts';
import type { JobRow } from './job-rows.ts';
import { TERMS_COLUMNS, termsValues } from './storage-terms.ts';
import { toStoredQuote, toStoredRejections } from './submissions.ts';

/** An item of a job of kind `document`, without its request: that is made of the file later. */
export interface NewDocumentItem {
  readonly customId: string;
  /** SHA-256 of what the request will be made of, as hex, until there is the request. */
  readonly requestHash: string;
  readonly features: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly bodyBytes: number;
}

/** A job that was judged, in all its rows but those of its money. */
export interface NewDocumentJob {
  /** As it is to be stored: queued, with all its items. */
  readonly job: JobRow;
  readonly createdAt: Date;
  readonly items: readonly NewDocumentItem[];
  readonly groups: readonly ItemGroup[];
  readonly quote: Quote;
  readonly verdict: Pick<Verdict, 'targets' | 'rejectedTargets'>;
}

/** The one shard of a job whose items are sent each by itself. */
export const DIRECT_SHARD = 1;

/** Rows that hang on a job are let in only where the job can be seen, so it comes first. */
export async function insertDocumentJob(client: pg.PoolClient, stored: NewDocumentJob): Promise<void> {
  await insertJob(client, stored);
  await insertItems(client, stored);
  await insertParts(client, stored);
  await insertJobEstimates(client, stored.job.key, stored.quote.lines);
  if (stored.job.priceMode === 'standard') await insertDirectShard(client, stored);
}

async function insertJob(client: pg.PoolClient, { job, items, quote, createdAt }: NewDocumentJob): Promise<void> {
  await client.query(
    `INSERT INTO batch_jobs (job_id, bucket, kind, price_mode, tenant_id, project_id, customer_id, api_key_id, created_at,
       submitted_at, admitted_at, submitted_by, endpoint, requested_model, resolved_provider, resolved_provider_model, state,
       currency, submission_no, item_count, item_bytes, estimated_input_tokens, estimated_output_tokens, estimated_amount,
       reserved_amount, price_book_version, overage_policy, ${TERMS_COLUMNS})
     VALUES ($1, $2, 'document', $3, $4, $5, $6, $7, $8, $8, $8, $7, $9, $10, $11, $12, 'queued', $13, $14, $15, $16, $17, $18,
       $19, $20, $21, $22, $23, $24, $25, $26)`,
    [
      ...[job.key.uuid, job.key.bucket, job.priceMode, job.tenantId, job.projectId, job.customerId, job.apiKeyId],
      ...[createdAt, job.endpoint, job.requestedModel, job.resolvedProvider, job.resolvedProviderModel],
      // What is sent by itself is not stored.
      ...[job.currency, job.submissionNo, items.length, job.priceMode === 'batch' ? sumOf(items, 'bodyBytes') : 0],
      ...[quote.inputTokens, quote.outputTokens, formatNumeric(quote.amount), formatNumeric(quote.reserved)],
      ...[quote.priceBookVersion, job.overagePolicy, ...termsValues(job.terms)],
    ],
  );
}

async function insertItems(client: pg.PoolClient, { job, items, createdAt }: NewDocumentJob): Promise<void> {
  const { uuid, bucket } = job.key;
  await client.query(
    `INSERT INTO batch_items (bucket, job_id, item_no, manifest_no, custom_id, request_hash, request_bytes, features,
       estimated_tokens, estimated_output_tokens, created_at)
     SELECT $1::int, $2::uuid, i.item_no, 1, i.custom_id, decode(i.hash, 'hex'), i.bytes, i.features, i.input, i.output, $3::timestamptz
     FROM unnest($4::text[], $5::text[], $6::int[], $7::int[], $8::int[], $9::int[]) WITH ORDINALITY
       AS i (custom_id, hash, bytes, features, input, output, item_no)`,
    [
      ...[bucket, uuid, createdAt],
      items.map(({ customId }) => customId),
      items.map(({ requestHash }) => requestHash),
      items.map(({ bodyBytes }) => bodyBytes),
      items.map(({ features }) => features),
      items.map(({ inputTokens }) => inputTokens),
      items.map(({ outputTokens }) => outputTokens),
    ],
  );
}

async function insertParts(client: pg.PoolClient, stored: NewDocumentJob): Promise<void> {
  const { job, groups, quote, verdict, createdAt } = stored;
  await client.query(
    `WITH kinds AS (
       INSERT INTO job_item_groups (job_id, manifest_no, requested_model, features, token_class, items, bytes, largest_bytes,
         input_tokens, output_tokens, uncapped_items)
       SELECT $1::uuid, 1, '', g.features, g.token_class, g.items, g.bytes, g.largest_bytes, g.input, g.output, 0
       FROM unnest($2::int[], $3::int[], $4::int[], $5::bigint[], $6::int[], $7::bigint[], $8::bigint[])
         AS g (features, token_class, items, bytes, largest_bytes, input, output)
     ), progress AS (
       INSERT INTO job_progress (job_id) VALUES ($1)
     ), submission AS (
       INSERT INTO job_submissions (job_id, submission_no, accepted, quote, rejected_targets) VALUES ($1, $9, true, $10, $11)
     )
     INSERT INTO stage_times (job_id, shard, stage, since) VALUES ($1, 0, 'queued', $12)`,
    [
      job.key.uuid,
      groups.map(({ features }) => features),
      groups.map(({ tokenClass }) => tokenClass),
      groups.map(({ items }) => items),
      groups.map(({ bytes }) => bytes),
      groups.map(({ largestBytes }) => largestBytes),
      groups.map(({ inputTokens }) => inputTokens),
      groups.map(({ outputTokens }) => outputTokens),
      job.submissionNo,
      JSON.stringify(toStoredQuote(quote, verdict.targets)),
      JSON.stringify(toStoredRejections(verdict.rejectedTargets)),
      createdAt,
    ],
  );
}

/** Where the items run in batches, they are cut into shards by the workflow of the job. */
async function insertDirectShard(client: pg.PoolClient, { job, items, createdAt }: NewDocumentJob): Promise<void> {
  await client.query(
    `WITH shard AS (
       INSERT INTO batch_shards (job_id, shard, first_item_no, last_item_no, requested_model, provider, provider_model, item_count, byte_count, created_at)
       VALUES ($1, ${DIRECT_SHARD}, 1, $2, '', $3, $4, $2, $5, $6)
     )
     INSERT INTO stage_times (job_id, shard, stage, since) VALUES ($1, ${DIRECT_SHARD}, 'queued', $6)`,
    [
      ...[job.key.uuid, items.length, job.resolvedProvider, job.resolvedProviderModel, sumOf(items, 'bodyBytes')],
      createdAt,
    ],
  );
}

function sumOf(items: readonly NewDocumentItem[], column: 'bodyBytes'): number {
  return items.reduce((sum, item) => sum + item[column], 0);
}
