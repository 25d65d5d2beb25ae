import { z } from 'zod';
import { CurrencyInput } from './money.ts';
import { NEW_OVERRIDE, OVERRIDE } from './override.ts';
import { NextCursor } from './pagination.ts';
import { ProviderName } from './provider.ts';
import { plainText } from './text.ts';

const KINDS = ['chat', 'embedding', 'moderation'] as const;
const MAX_TOKENS = 100_000_000;

const Rate = z
  .string({ error: 'must be a decimal string such as "0.075", not a number' })
  .regex(
    /^(0|[1-9][0-9]{0,8})(\.[0-9]{1,6})?$/,
    'must be a plain decimal string with at most six decimals, such as "0.075"',
  )
  .meta({ description: 'Price of one million tokens, at most six decimals.', example: '0.075' });

export const Rates = z
  .strictObject({
    input: Rate,
    cached_input: Rate,
    cache_write: Rate,
    output: Rate,
    long_cache_write: Rate.optional().meta({ description: 'Cache writes of longer life; absent: as `cache_write`.' }),
  })
  .meta({ id: 'TokenRates' });

const LongContext = z
  .strictObject({
    above_input_tokens: z.int().min(1).max(MAX_TOKENS),
    standard: Rates,
    batch: Rates.nullable(),
  })
  .meta({ description: 'An item whose input is longer is charged at these rates throughout.' });

const PRICE = {
  currency: CurrencyInput.meta({ description: 'Tenants that pay in another cannot use the model.' }),
  kind: z.enum(KINDS),
  standard: Rates,
  batch: Rates.nullable().meta({ description: 'Null: the model cannot be used in batches.' }),
  max_output_tokens: z.int().min(0).max(MAX_TOKENS).meta({
    description:
      'The most one reply can hold: what is held for where a request sets no limit. 0 where nothing is generated.',
  }),
};

/** What is said of a model's price, whoever it is for. */
export const PRICE_MODEL = {
  model: plainText(200).meta({ description: 'The provider’s own id of the model.', example: 'gpt-5-mini' }),
  from: z.iso
    .date()
    .optional()
    .meta({ description: 'First day (UTC) on which it applies; absent: today.', example: '2026-12-01' }),
  ...PRICE,
  long_context: LongContext.optional(),
};

/** Refuses members that cannot be true together. */
export function refuseImpossiblePrice(
  { kind, batch, long_context: long, max_output_tokens: maxOutput }: z.output<typeof PriceShape>,
  context: z.core.$RefinementCtx,
): void {
  const refuse = (path: string[], message: string) => context.addIssue({ code: 'custom', path, message });
  if (kind === 'chat' && maxOutput === 0) refuse(['max_output_tokens'], 'must be at least 1 for a chat model');
  if (kind !== 'chat' && maxOutput > 0) refuse(['max_output_tokens'], 'must be 0: nothing is generated');
  if (long !== undefined && (long.batch === null) !== (batch === null)) {
    refuse(['long_context', 'batch'], 'must be null where batch is null, and only there');
  }
}

const PriceShape = z.object(PRICE_MODEL);

export const NewPrice = z
  .strictObject({ ...NEW_OVERRIDE, ...PRICE_MODEL })
  .superRefine(refuseImpossiblePrice)
  .meta({ id: 'NewPriceOverride' });
export type NewPrice = z.infer<typeof NewPrice>;

export const PriceOverride = z
  .object({
    ...OVERRIDE,
    provider: ProviderName,
    model: z.string(),
    from: z.string(),
    ...PRICE,
    long_context: LongContext.nullable(),
  })
  .meta({
    id: 'PriceOverride',
    description: 'A price an admin set. Jobs accepted before keep the price they were held at.',
  });
export type PriceOverride = z.infer<typeof PriceOverride>;

export const PriceOverrideList = z
  .object({ data: z.array(PriceOverride), next_cursor: NextCursor })
  .meta({ id: 'PriceOverrideList', description: 'Newest first.' });
export type PriceOverrideList = z.infer<typeof PriceOverrideList>;
