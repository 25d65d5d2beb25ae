import type pg from 'pg';
import type { Verdict } from '../domain/admission.ts';
import type { ErrorCode, ErrorDetail } from '../domain/gateway-error.ts';
import { formatAmount, formatNumeric } from '../domain/money.ts';
import type { PriceRow } from '../domain/price-row.ts';
import type { Provider } from '../domain/provider.ts';
import type { Quote } from '../domain/quote.ts';
import { insertJobEstimates } from './job-estimates.ts';
import type { JobKey, JobRow } from './job-rows.ts';
import { rollUpRefusal } from './refusal-rollups.ts';
import { enterStage, WHOLE_JOB } from './stage-times.ts';
import { type HeldReplies, type StoredEstimate, toStoredEstimate } from './stored-estimate.ts';

type Queryable = Pick<pg.Pool, 'query'>;

/** A refusal as stored: what the caller was or will be answered. Field names are the public ones. */
export interface StoredRefusal {
  readonly error: ErrorCode;
  readonly message: string;
  readonly field: string;
  readonly details: readonly ErrorDetail[];
  readonly details_count: number;
}

/** A quote as stored and shown: amounts are exact decimal strings. */
export interface StoredQuote extends StoredEstimate {
  readonly items: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly estimated: string;
  readonly margin: string;
  readonly reserved: string;
  readonly price_book_version: string;
  readonly lines: readonly {
    readonly provider: string;
    readonly model: string;
    readonly items: number;
    readonly input_tokens: number;
    readonly output_tokens: number;
    readonly estimated: string;
    readonly batch_price: string;
    readonly note: string | null;
  }[];
  /** Which target each model asked for was given; the empty name is the job's own. */
  readonly targets: readonly {
    readonly requested_model: string;
    readonly provider: Provider;
    readonly model: string;
    /** What its items are charged by; absent in submissions from before it was kept. */
    readonly price?: PriceRow;
    /** What is held for each reply without a cap; absent likewise. */
    readonly uncapped_reply_tokens?: HeldReplies;
  }[];
}

/** A target that could not run its items, as stored and shown. */
export interface StoredRejection {
  /** Empty for the job's own model. */
  readonly requested_model: string;
  readonly target: { readonly provider: Provider; readonly model: string };
  readonly error: ErrorCode;
  readonly message: string;
}

export interface Submission {
  readonly accepted: boolean;
  readonly refusal: StoredRefusal | null;
  readonly quote: StoredQuote | null;
  /** In the order in which the targets were tried. */
  readonly rejectedTargets: readonly StoredRejection[];
}

/** The verdict on one submission, null while there is none. */
export async function findSubmission(db: Queryable, job: JobKey, submissionNo: number): Promise<Submission | null> {
  const { rows } = await db.query<Submission>(
    `SELECT accepted, refusal, quote, rejected_targets AS "rejectedTargets" FROM job_submissions
     WHERE job_id = $1 AND submission_no = $2`,
    [job.uuid, submissionNo],
  );
  return rows[0] ?? null;
}

/** Stores the acceptance and what it fixes on the job. In the transaction that reserves. */
export async function recordAcceptance(
  client: pg.PoolClient,
  job: JobRow,
  quote: Quote,
  { target, targets, rejectedTargets }: Verdict,
  now: Date,
): Promise<void> {
  await client.query('INSERT INTO job_progress (job_id) VALUES ($1) ON CONFLICT DO NOTHING', [job.key.uuid]);
  await insertSubmission(client, job, {
    accepted: true,
    refusal: null,
    quote: toStoredQuote(quote, targets),
    rejectedTargets: toStoredRejections(rejectedTargets),
  });
  await client.query(
    `UPDATE batch_jobs SET state = 'queued', admitted_at = $2, refusal = NULL, resolved_provider = $3, resolved_provider_model = $4,
       estimated_input_tokens = $5, estimated_output_tokens = $6, estimated_amount = $7, reserved_amount = $8, price_book_version = $9,
       overage_policy = (SELECT t.overage_policy FROM tenants t WHERE t.tenant_id = batch_jobs.tenant_id)
     WHERE job_id = $1`,
    [
      job.key.uuid,
      now,
      target?.provider,
      target?.model,
      quote.inputTokens,
      quote.outputTokens,
      formatNumeric(quote.amount),
      formatNumeric(quote.reserved),
      quote.priceBookVersion,
    ],
  );
  await insertJobEstimates(client, job.key, quote.lines);
  await enterStage(client, job.key, WHOLE_JOB, 'queued', now);
}

/** Stores the refusal and makes the job an editable draft again. */
export async function recordRefusal(
  client: pg.PoolClient,
  job: JobRow,
  refusal: StoredRefusal,
  { rejectedTargets }: Pick<Verdict, 'rejectedTargets'>,
): Promise<void> {
  await insertSubmission(client, job, {
    accepted: false,
    refusal,
    quote: null,
    rejectedTargets: toStoredRejections(rejectedTargets),
  });
  await client.query(`UPDATE batch_jobs SET state = 'draft', submitted_at = NULL, refusal = $2 WHERE job_id = $1`, [
    job.key.uuid,
    JSON.stringify(refusal),
  ]);
  await rollUpRefusal(client, job.key, refusal);
}

async function insertSubmission(client: pg.PoolClient, job: JobRow, submission: Submission): Promise<void> {
  await client.query(
    `INSERT INTO job_submissions (job_id, submission_no, accepted, refusal, quote, rejected_targets)
     VALUES ($1, $2, $3, $4, $5, $6)`,
    [
      job.key.uuid,
      job.submissionNo,
      submission.accepted,
      submission.refusal === null ? null : JSON.stringify(submission.refusal),
      submission.quote === null ? null : JSON.stringify(submission.quote),
      JSON.stringify(submission.rejectedTargets),
    ],
  );
}

export function toStoredRejections(rejected: Verdict['rejectedTargets']): StoredRejection[] {
  return rejected.map(({ requestedModel, target: { provider, model }, error, message }) => ({
    requested_model: requestedModel,
    target: { provider, model },
    error,
    message,
  }));
}

export function toStoredQuote(quote: Quote, targets: Verdict['targets']): StoredQuote {
  return {
    items: quote.items,
    input_tokens: quote.inputTokens,
    output_tokens: quote.outputTokens,
    estimated: formatAmount(quote.amount),
    margin: quote.margin,
    reserved: formatAmount(quote.reserved),
    price_book_version: quote.priceBookVersion,
    ...toStoredEstimate(quote.inputs),
    lines: quote.lines.map((line) => ({
      provider: line.provider,
      model: line.model,
      items: line.items,
      input_tokens: line.inputTokens,
      output_tokens: line.outputTokens,
      estimated: formatAmount(line.amount),
      batch_price: line.batchBasis,
      note: line.note,
    })),
    targets: targets.map(({ requestedModel, target: { provider, model }, price, replies }) => ({
      requested_model: requestedModel,
      provider,
      model,
      price,
      uncapped_reply_tokens: { plain: replies.plain.tokens, reasoning: replies.reasoning.tokens },
    })),
  };
}
