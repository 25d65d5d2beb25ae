import { z } from 'zod';
import { ENDPOINTS, PROVIDERS } from '../domain/provider.ts';
import { Currency } from './money.ts';

const Rate = z.string().meta({ description: 'Price of one million tokens in batch mode.', example: '0.075' });

export const Model = z
  .object({
    model: z
      .string()
      .meta({ description: '`provider/model`, as `model` of a job takes it.', example: 'openai/gpt-5-mini' }),
    provider: z.enum(PROVIDERS),
    endpoints: z.array(z.enum(ENDPOINTS)),
    currency: Currency,
    batch_price_per_million: z.object({ input: Rate, cached_input: Rate, cache_write: Rate, output: Rate }),
  })
  .meta({ id: 'Model' });
export type Model = z.infer<typeof Model>;

const ModelAlias = z
  .object({ alias: z.string(), model: z.string().meta({ description: 'What the alias stands for.' }) })
  .meta({ id: 'ModelAlias' });

export const ModelList = z
  .object({
    data: z.array(Model),
    aliases: z.array(ModelAlias),
    price_book_version: z.string(),
  })
  .meta({ id: 'ModelList', description: 'Every model with a batch price, and the tenant’s own names for models.' });
export type ModelList = z.infer<typeof ModelList>;
