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

/** What a sample of the items told of how the counted tokens compare with a tokenizer's. */
const Calibration = z
  .object({
    library: z.string().meta({ description: 'What counted the sample.', example: 'gpt-tokenizer 4.0.0' }),
    sampled_items: z.int(),
    models: z.array(
      Target.extend({
        requested_model: z.string().meta({ description: 'Empty for the job’s own.' }),
        encoding: z.string().meta({ example: 'o200k_base' }),
        ratio: z.string().meta({
          description: 'Tokens of the model for each of the encoding; 1.00 where the encoding is its own.',
          example: '1.00',
        }),
        ratio_source: z.string(),
        factor: z.string().meta({
          description: 'Of the whole sample: for items of a band of which fewer than 8 were sampled.',
          example: '0.8712',
        }),
        bands: z
          .array(
            z.object({
              band: z.enum(['short', 'medium', 'long']),
              items: z.int(),
              counted_tokens: z.int(),
              tokenizer_tokens: z.int(),
              factor: z.string(),
            }),
          )
          .meta({ description: 'Items of up to 255 counted tokens, up to 8,191, and longer.' }),
      }),
    ),
  })
  .meta({
    id: 'QuoteCalibration',
    description:
      'Counted input tokens are multiplied by the factor of their model and band: tokens by the tokenizer over tokens as ' +
      'counted, from 0.25 to 4, kept exact and shown to four decimals.',
  });

const ExpectedOutput = Target.extend({
  requested_model: z.string().meta({ description: 'Empty for the job’s own.' }),
  method: z.enum(['cap', 'learned', 'default']).meta({
    description: 'The requests’ own caps; what nine of ten earlier replies stayed within; or a default.',
  }),
  reasons: z.boolean().nullable().meta({ description: 'Whether the requests ask the model to reason.' }),
  replies: z.int().nullable().meta({ description: 'Replies without a cap; null for `cap`.' }),
  tokens_each: z.int().nullable(),
  known_replies: z
    .int()
    .meta({ description: 'Earlier replies of the tenant, model and endpoint that were looked at.' }),
  tokens: z.int(),
}).meta({ id: 'QuoteExpectedOutput' });

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
    counted_input_tokens: z.int().nullable().meta({
      description:
        'Input tokens as counted when the items were appended, before the calibration. Null in older quotes.',
    }),
    calibration: Calibration.nullable().meta({ description: 'Null where nothing was sampled, and in older quotes.' }),
    expected_output: z.array(ExpectedOutput),
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
