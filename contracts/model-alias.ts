import { z } from 'zod';
import { ErrorCodeName } from './error.ts';
import { ProviderInput } from './provider.ts';
import { plainText, uniqueList } from './text.ts';

const MAX_ALIASES = 500;
const MAX_TARGETS = 50;
const MAX_WEIGHT = 1000;

const AliasTarget = z
  .strictObject({
    provider: ProviderInput,
    model: plainText(200).meta({ description: 'The provider’s own id of the model.', example: 'gpt-5-mini' }),
    region: plainText(64)
      .nullable()
      .optional()
      .meta({ description: 'Where this target processes data; null or absent: wherever its provider does.' }),
    weight: z
      .int()
      .min(1)
      .max(MAX_WEIGHT)
      .nullable()
      .optional()
      .meta({ description: 'Share of the jobs that try it first, among targets that have a weight.' }),
  })
  .meta({ id: 'AliasTarget' });

const Targets = uniqueList(AliasTarget, {
  max: MAX_TARGETS,
  keyOf: ({ provider, model, region = null }) => JSON.stringify([provider, model, region]),
});

const Aliases = z
  .record(plainText(200), Targets)
  .refine((aliases) => Object.keys(aliases).length <= MAX_ALIASES, `at most ${MAX_ALIASES} aliases`)
  .meta({
    description: 'Alias → its targets, in the order in which they are tried.',
    example: {
      'analysis-large': [
        { provider: 'openai', model: 'gpt-5' },
        { provider: 'anthropic', model: 'claude-opus-4-5' },
      ],
    },
  });

/** The whole map: an alias that is not in it is no more. */
export const SetAliases = z.strictObject({ aliases: Aliases }).meta({ id: 'SetModelAliases' });
export type SetAliases = z.infer<typeof SetAliases>;

export const TenantAliases = z
  .object({ tenant_id: z.string(), aliases: Aliases })
  .meta({ id: 'TenantModelAliases', description: 'The tenant’s own aliases; they win over those every tenant has.' });
export type TenantAliases = z.infer<typeof TenantAliases>;

export const AliasesSet = TenantAliases.extend({
  warnings: z
    .array(z.object({ error: ErrorCodeName, message: z.string(), field: z.string() }))
    .meta({ description: 'Targets that no job can be given as things are; they were kept all the same.' }),
}).meta({ id: 'ModelAliasesSet' });
export type AliasesSet = z.infer<typeof AliasesSet>;
