import { z } from 'zod';

/** What a provider sends, as far as it is read. The route judges the signed bytes; this only describes them. */
export const ProviderEvent = z
  .looseObject({
    type: z.string().meta({ example: 'batch.completed' }),
    data: z.looseObject({ id: z.string().meta({ description: 'The provider’s id of the batch.' }) }).optional(),
  })
  .meta({ id: 'ProviderEvent', description: 'An event in the words of its provider.' });

export const ProviderEventHeaders = z.object({
  'webhook-id': z.string().optional().meta({ description: 'The same in every delivery of one event.' }),
  'webhook-timestamp': z.string().optional().meta({ description: 'Seconds since 1970; at most five minutes off.' }),
  'webhook-signature': z.string().optional().meta({
    description: 'After Standard Webhooks, `v1,` and base64, or a JWT where the provider signs so.',
  }),
});

export const ProviderEventHeard = z.object({}).meta({ id: 'ProviderEventHeard' });
