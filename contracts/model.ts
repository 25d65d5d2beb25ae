import { z } from 'zod';
import { ENDPOINTS } from '../domain/provider.ts';
import { Currency } from './money.ts';
import { ProviderName } from './provider.ts';

const Rate = z.string().meta({ description: 'Price of one million tokens in batch mode.', example: '0.075' });
const Rates = z.object({
  input: Rate,
  cached_input: Rate,
  cache_write: Rate,
  long_cache_write: Rate.optional().meta({ description: 'Cache writes of longer life; absent: as `cache_write`.' }),
  output: Rate,
});

export const Model = z
  .object({
    model: z
      .string()
      .meta({ description: '`provider/model`, as `model` of a job takes it.', example: 'openai/gpt-5-mini' }),
    provider: ProviderName,
    kind: z.enum(['chat', 'embedding', 'moderation']),
    endpoints: z.array(z.enum(ENDPOINTS)),
    currency: Currency,
    batch_price_per_million: Rates,
    long_context: z
      .object({ above_input_tokens: z.int(), batch_price_per_million: Rates })
      .nullable()
      .meta({ description: 'An item whose input is longer is charged at these rates throughout.' }),
    batch_price: z.string().meta({ description: 'Where the batch price comes from.', example: 'published' }),
    max_output_tokens: z.int(),
    note: z.string().nullable(),
  })
  .meta({ id: 'Model' });
export type Model = z.infer<typeof Model>;

const ModelAlias = z
  .object({
    alias: z.string(),
    model: z.string().nullable().meta({ description: 'The first of the targets; null where there is none.' }),
    targets: z
      .array(
        z.object({
          provider: ProviderName,
          model: z.string(),
          region: z.string().nullable().meta({ description: 'Null: wherever the provider processes data.' }),
          weight: z
            .int()
            .nullable()
            .meta({ description: 'Share of the jobs that try it first, among those that have one.' }),
        }),
      )
      .meta({ description: 'In the order in which they are tried: a job gets the first that can run it.' }),
  })
  .meta({ id: 'ModelAlias' });

export const ModelList = z
  .object({
    data: z.array(Model),
    aliases: z.array(ModelAlias),
    price_book_version: z.string(),
  })
  .meta({ id: 'ModelList', description: 'Every model with a batch price, and the tenant’s own names for models.' });
export type ModelList = z.infer<typeof ModelList>;
