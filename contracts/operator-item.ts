import { z } from 'zod';
import { FAILURE_CLASSES } from '../domain/failure.ts';
import { ITEM_STATES } from '../domain/item-state.ts';
import { ProviderName } from './provider.ts';
import { Timestamp } from './text.ts';

/** Where an item is at its provider and what that says of it; never a prompt or a reply. */
export const OperatorItem = z
  .object({
    job_id: z.string(),
    item_id: z.string(),
    item_no: z.int(),
    custom_id: z.string(),
    status: z.enum(ITEM_STATES),
    shard: z.int().nullable(),
    attempt: z
      .int()
      .nullable()
      .meta({ description: 'Of the shard: the batch that settled the item, else the newest.' }),
    provider: ProviderName.nullable(),
    provider_model: z.string().nullable(),
    provider_batch_id: z.string().nullable(),
    provider_item_id: z.string().nullable().meta({
      description: 'What the provider knows the item as in that batch.',
      example: '1k3v9q0c2m5x7b8n-381',
    }),
    error: z.object({ class: z.enum(FAILURE_CLASSES), code: z.string(), message: z.string() }).nullable(),
    native_error: z.unknown().meta({ description: 'In the provider’s own words; null where it gave none.' }),
    settled_at: Timestamp.nullable(),
  })
  .meta({ id: 'OperatorItem' });
export type OperatorItem = z.infer<typeof OperatorItem>;
