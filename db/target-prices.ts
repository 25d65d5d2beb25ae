import type pg from 'pg';
import { expectOutputTokens } from '../domain/estimate.ts';
import { createPriceBook, PUBLISHED_PRICES } from '../domain/price-book.ts';
import type { PriceRow } from '../domain/price-row.ts';
import type { Provider } from '../domain/provider.ts';
import type { HeldReplies } from './stored-estimate.ts';
import type { StoredQuote } from './submissions.ts';

/** One model of a job, as its shards name it. */
interface PricedTarget {
  /** Empty for the job's own. */
  readonly requestedModel: string;
  readonly provider: Provider;
  readonly providerModel: string;
}

/** What a submission was accepted at for one of its models. */
export interface TargetPrice {
  readonly price: PriceRow;
  /** What was held for each choice of a reply without a cap. */
  readonly heldReplies: HeldReplies;
}

/** Throws for a target the job was never priced for. */
export type FindTargetPrice = (target: PricedTarget) => TargetPrice;

/**
 * The price rows a submission was accepted at, and what it holds: what its items are charged by, whatever the price
 * book, an override or learned replies say since. Submissions from before these were kept are priced by the published
 * book of their time, and hold the defaults.
 */
export async function loadTargetPrices(
  db: Pick<pg.Pool, 'query'>,
  job: { readonly uuid: string; readonly submissionNo: number; readonly submittedAt: Date | null },
): Promise<FindTargetPrice> {
  const { rows } = await db.query<{ targets: StoredQuote['targets'] | null }>(
    `SELECT quote -> 'targets' AS targets FROM job_submissions WHERE job_id = $1 AND submission_no = $2`,
    [job.uuid, job.submissionNo],
  );
  return targetPrices(rows[0]?.targets ?? null, job.submittedAt);
}

/** The same from what a submission's quote keeps of its targets. */
export function targetPrices(stored: StoredQuote['targets'] | null, submittedAt: Date | null): FindTargetPrice {
  const targets = stored ?? [];
  return ({ requestedModel, provider, providerModel }) => {
    const target = targets.find((each) => each.requested_model === requestedModel && each.provider === provider);
    const price = target?.price ?? publishedPrice(provider, providerModel, submittedAt);
    if (price === null) throw new Error(`no price for ${provider}/${providerModel}`);
    return { price, heldReplies: target?.uncapped_reply_tokens ?? defaultReplies(price) };
  };
}

function defaultReplies(price: PriceRow): HeldReplies {
  const expected = (reasons: boolean) => expectOutputTokens({ maxOutputTokens: null, choices: 1, reasons }, price);
  return { plain: expected(false), reasoning: expected(true) };
}

const published = createPriceBook(PUBLISHED_PRICES);

function publishedPrice(provider: Provider, model: string, at: Date | null): PriceRow | null {
  return at === null ? null : published.find(provider, model, at);
}
