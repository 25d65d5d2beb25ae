import { z } from 'zod';
import { CurrencyInput } from './money.ts';
import { PRICE_MODEL, Rates, refuseImpossiblePrice } from './price-override.ts';
import { ProviderInput } from './provider.ts';
import { plainText, Timestamp } from './text.ts';

const MAX_PRICES = 500;

export const CustomerId = plainText(128).meta({ description: 'A customer’s id.', example: 'customer_7' });

const MarkupPercent = z
  .string({ error: 'must be a decimal string such as "12.5", not a number' })
  .regex(/^(0|[1-9][0-9]{0,3}|10000)(\.[0-9]{1,4})?$/, 'must be a plain decimal with at most four decimals')
  .refine((text) => !/^10000\.0*[1-9]/.test(text), 'must be at most 10000')
  .meta({
    description: 'On top of what the tenant pays, for models the list leaves out. From 0 to 10000.',
    example: '12.5',
  });

const CustomerPrice = z
  .strictObject({
    provider: ProviderInput,
    ...PRICE_MODEL,
    currency: CurrencyInput.meta({ description: 'The tenant’s.' }),
    batch: Rates.meta({ description: 'What is charged: all work of the gateway is done in batches.' }),
  })
  .superRefine(refuseImpossiblePrice)
  .meta({ id: 'CustomerPrice', description: 'What the customer is charged for a model, from its first day on.' });

/** What a partner's customer is sold at; replaces what was set before. */
export const SetCustomerPricing = z
  .strictObject({
    markup_percent: MarkupPercent.nullable(),
    prices: z.array(CustomerPrice).max(MAX_PRICES).default([]),
  })
  .superRefine(({ markup_percent: markup, prices }, context) => {
    if (markup !== null || prices.length === 0) return;
    const message = 'must be set beside a price list: it is for the models the list leaves out; "0" adds nothing';
    context.addIssue({ code: 'custom', path: ['markup_percent'], message });
  })
  .meta({ id: 'SetCustomerPricing' });
export type SetCustomerPricing = z.infer<typeof SetCustomerPricing>;

export const CustomerPricing = z
  .object({
    tenant_id: z.string(),
    customer_id: z.string(),
    markup_percent: z.string().nullable().meta({ description: 'Null: the customer is shown what the tenant pays.' }),
    prices: z.array(CustomerPrice),
    set_by: z.string().nullable(),
    set_at: Timestamp.nullable(),
  })
  .meta({ id: 'CustomerPricing' });
export type CustomerPricing = z.infer<typeof CustomerPricing>;
