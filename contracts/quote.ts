import { z } from 'zod';
import { PROVIDERS } from '../domain/provider.ts';
import { Currency, Money } from './money.ts';

export const Target = z
  .object({ provider: z.enum(PROVIDERS), model: z.string() })
  .meta({ id: 'Target', description: 'The provider’s model a job or an item runs on.' });

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
  })
  .meta({ id: 'JobQuote' });
export type JobQuote = z.infer<typeof JobQuote>;
