import { z } from 'zod';
import { ErrorCodeName } from './error.ts';
import { Currency, Money } from './money.ts';
import { ProviderName } from './provider.ts';

export const Target = z
  .object({ provider: ProviderName, model: z.string() })
  .meta({ id: 'Target', description: 'The provider’s model a job or an item runs on.' });

/** A target of a model asked for that cannot run its items, and why. */
export const RejectedTarget = z
  .object({
    requested_model: z.string().meta({ description: 'The model it was asked for by; empty for the job’s own.' }),
    target: Target,
    error: ErrorCodeName,
    message: z.string(),
  })
  .meta({ id: 'RejectedTarget', description: 'A target the job could not be given, and why, in the order of trying.' });

/** How an estimate was made. */
export const Quote = z
  .object({
    items: z.int(),
    input_tokens: z.int(),
    output_tokens: z.int(),
    estimated: Money,
    margin: z.string().meta({ description: 'Held on top of the estimate, as a part of it.', example: '0.10' }),
    reserved: Money.meta({ description: 'The estimate and its margin: what a submit holds.' }),
    currency: Currency,
    price_book_version: z.string(),
    lines: z.array(
      z.object({
        provider: z.string(),
        model: z.string(),
        items: z.int(),
        input_tokens: z.int(),
        output_tokens: z.int(),
        estimated: Money,
        batch_price: z.string().meta({ description: 'Where the batch price comes from.' }),
        note: z.string().nullable(),
      }),
    ),
    targets: z.array(Target.extend({ requested_model: z.string() })).meta({
      description: 'What each model asked for was resolved to; the empty name is the job’s own.',
    }),
  })
  .meta({ id: 'Quote' });
export type Quote = z.infer<typeof Quote>;

export const JobQuote = z
  .object({
    job_id: z.string(),
    basis: z.enum(['submission', 'draft']).meta({
      description: '`submission`: what was held for. `draft`: reckoned now from the items as they are.',
    }),
    quote: Quote.nullable().meta({ description: 'Null where the job cannot be priced as it is; validate tells why.' }),
    rejected_targets: z.array(RejectedTarget),
  })
  .meta({ id: 'JobQuote' });
export type JobQuote = z.infer<typeof JobQuote>;
