import { z } from 'zod';
import { ENDPOINTS } from '../domain/provider.ts';
import { FeatureName } from './feature.ts';
import { NEW_OVERRIDE, OVERRIDE } from './override.ts';
import { NextCursor } from './pagination.ts';
import { ProviderName } from './provider.ts';
import { plainText } from './text.ts';

const Pattern = plainText(200)
  .refine((text) => !text.slice(0, -1).includes('*'), 'may have "*" at its end only')
  .meta({ description: 'A model id, or with `*` at its end every id that begins so.', example: 'gpt-5*' });

export const NewCapability = z
  .strictObject({
    ...NEW_OVERRIDE,
    reason: NEW_OVERRIDE.reason.meta({ description: 'Why. Callers who are refused a feature are told it.' }),
    endpoint: z.enum(ENDPOINTS),
    model: Pattern,
    feature: FeatureName.nullable().optional().meta({ description: 'Null or absent: batch mode as a whole.' }),
    is_allowed: z.boolean(),
  })
  .meta({ id: 'NewCapabilityOverride' });
export type NewCapability = z.infer<typeof NewCapability>;

export const CapabilityOverride = z
  .object({
    ...OVERRIDE,
    provider: ProviderName,
    endpoint: z.enum(ENDPOINTS),
    model: z.string(),
    feature: FeatureName.nullable(),
    is_allowed: z.boolean(),
  })
  .meta({ id: 'CapabilityOverride', description: 'An admin’s word on what models may do in batch mode.' });
export type CapabilityOverride = z.infer<typeof CapabilityOverride>;

export const CapabilityOverrideList = z
  .object({ data: z.array(CapabilityOverride), next_cursor: NextCursor })
  .meta({ id: 'CapabilityOverrideList', description: 'Newest first; of two that disagree the newer one holds.' });
export type CapabilityOverrideList = z.infer<typeof CapabilityOverrideList>;
