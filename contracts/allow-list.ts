import { z } from 'zod';
import { ProviderInput } from './provider.ts';
import { plainText, uniqueList } from './text.ts';

const MAX_NAMES = 200;

const AllowedModels = uniqueList(plainText(200), { max: MAX_NAMES })
  .nullable()
  .meta({
    description: 'Aliases, plain model ids or `provider/model`. Null allows all; an empty list is refused.',
    example: ['analysis-large', 'openai/gpt-5-mini'],
  });

const AllowedProviders = uniqueList(ProviderInput, { max: MAX_NAMES })
  .nullable()
  .meta({ description: 'Names of providers. Null allows all; an empty list is refused.', example: ['openai'] });

/** Fields of everything that has allow-lists. */
export const ALLOW_LISTS = {
  allowed_models: z.array(z.string()).nullable().meta({ description: 'Null allows all.' }),
  allowed_providers: z.array(z.string()).nullable().meta({ description: 'Null allows all.' }),
};

/** A field that is left out stays as it is; null allows all. */
export const ChangeAllowList = z
  .strictObject({ allowed_models: AllowedModels.optional(), allowed_providers: AllowedProviders.optional() })
  .meta({ id: 'ChangeAllowList' });
export type ChangeAllowList = z.infer<typeof ChangeAllowList>;
