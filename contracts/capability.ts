import { z } from 'zod';
import { ENDPOINTS } from '../domain/provider.ts';
import { FeatureName } from './feature.ts';
import { ProviderName } from './provider.ts';

const Limit = z.int().nullable();

const Limits = z
  .object({
    max_items: z.int(),
    max_bytes: z.int().meta({ description: 'Of the whole input as it is sent.' }),
    max_item_bytes: z.int(),
    max_embedding_inputs: Limit.meta({ description: 'Texts to embed, over the whole batch.' }),
    max_creates_per_hour: Limit,
    max_queued_items: Limit.meta({ description: 'Requests waiting at the provider, over all batches.' }),
    max_queued_tokens: Limit.meta({ description: 'Input tokens waiting at the provider, for one model.' }),
    max_concurrent_batches: Limit,
  })
  .meta({ id: 'BatchLimits', description: 'Of one provider batch; null where the provider publishes none.' });

const Lifetime = z
  .object({
    window_hours: z.int().nullable().meta({ description: 'A batch that is not done by then expires; null: never.' }),
    result_retention_days: z.int(),
    on_expiry: z.enum(['finished_items_kept', 'nothing_kept']),
    on_cancel: z.enum(['finished_items_kept', 'nothing_kept']),
  })
  .meta({ id: 'BatchLifetime' });

export const Capability = z
  .object({
    provider: ProviderName,
    endpoint: z.enum(ENDPOINTS),
    models: z.array(z.string()).meta({
      description: 'Model ids; one that ends in `*` stands for all that begin so. The first row that matches decides.',
      example: ['gpt-6.2-*'],
    }),
    batch_eligible: z.boolean(),
    native: z.boolean().meta({ description: 'Requests reach the provider as written; else they are translated.' }),
    region: z.string().meta({ description: 'Where data is processed; `global` promises no place.' }),
    features: z
      .partialRecord(FeatureName, z.boolean())
      .meta({ description: 'What a request of the endpoint may ask for.' }),
    refusals: z
      .array(z.object({ feature: FeatureName, message: z.string() }))
      .meta({ description: 'Why a feature is refused, and what to do instead.' }),
    limits: Limits,
    lifetime: Lifetime,
    source: z.string().meta({ description: 'Where the facts are from.' }),
  })
  .meta({ id: 'Capability' });
export type Capability = z.infer<typeof Capability>;

export const CapabilityList = z.object({ data: z.array(Capability) }).meta({
  id: 'CapabilityList',
  description: 'What each provider’s batch mode can do, by endpoint and family of models.',
});
export type CapabilityList = z.infer<typeof CapabilityList>;
