import { z } from 'zod';
import { PageQuery } from './pagination.ts';
import { ProviderInput } from './provider.ts';
import { plainText, Timestamp } from './text.ts';

export const OverrideId = z.string().meta({ description: 'An override’s id.', example: 'price_01j7zb8k3te9' });

/** What an override of either kind says of itself. */
export const OVERRIDE = {
  override_id: OverrideId,
  tenant_id: z.string().nullable().meta({ description: 'The only tenant it is for; null: every tenant.' }),
  reason: z.string(),
  created_by: z.string().meta({ description: 'The id of the admin’s key.' }),
  created_at: Timestamp,
  withdrawn_by: z.string().nullable(),
  withdrawn_at: Timestamp.nullable().meta({ description: 'From then on no verdict heeds it.' }),
};

/** Fields of a new override of either kind. */
export const NEW_OVERRIDE = {
  tenant_id: plainText(128)
    .nullable()
    .optional()
    .meta({ description: 'The only tenant it is for; else every tenant.' }),
  provider: ProviderInput,
  reason: plainText(500).meta({ description: 'Why, for whoever looks later.' }),
};

export const OverrideQuery = z.strictObject({
  ...PageQuery,
  tenant_id: plainText(128).optional().meta({ description: 'Only those for this tenant alone.' }),
  provider: ProviderInput.optional(),
  withdrawn: z
    .enum(['exclude', 'include'])
    .default('exclude')
    .meta({ description: 'Whether those that hold no more are listed too.' }),
});
export type OverrideQuery = z.infer<typeof OverrideQuery>;
