import { z } from 'zod';
import { JOB_KINDS } from '../domain/job-kind.ts';

const Decimal = z
  .string()
  .regex(/^-?[0-9]+(\.[0-9]+)?$/)
  .meta({ description: 'A plain decimal: no exponent, no thousands separator.' });
const Time = z.iso.datetime();
const Json = z.string().refine((text) => typeof JSON.parse(text) === 'object', 'must be a JSON object');

/**
 * A row of a usage export in the columns of the FinOps Open Cost and Usage Specification (FOCUS 1.2, "Cost and Usage"),
 * in the order of its CSV; null is an empty cell. What FOCUS has no column for is in columns beginning with `x_`, as its
 * rules for custom columns say.
 */
export const FocusRow = z.strictObject({
  BilledCost: Decimal,
  BillingAccountId: z.string().min(1),
  BillingAccountName: z.string().nullable(),
  BillingCurrency: z.string().regex(/^[A-Z]{3}$/),
  BillingPeriodEnd: Time,
  BillingPeriodStart: Time,
  ChargeCategory: z.enum(['Usage', 'Adjustment']),
  ChargeClass: z.literal('Correction').nullable(),
  ChargeDescription: z.string().min(1),
  ChargeFrequency: z.enum(['Usage-Based', 'One-Time']),
  ChargePeriodEnd: Time,
  ChargePeriodStart: Time,
  ConsumedQuantity: Decimal.nullable(),
  ConsumedUnit: z.literal('Tokens').nullable(),
  ContractedCost: Decimal,
  EffectiveCost: Decimal,
  InvoiceIssuerName: z.string().min(1),
  ListCost: Decimal,
  PricingCategory: z.literal('Standard').nullable(),
  PricingQuantity: Decimal.nullable(),
  PricingUnit: z.literal('Tokens').nullable(),
  ProviderName: z.string().min(1),
  PublisherName: z.string().min(1),
  ResourceId: z.string().min(1),
  ResourceName: z.string().nullable(),
  ResourceType: z.enum(['Batch job', 'Batch item', 'Task', 'Document run', 'Document']),
  ServiceCategory: z.literal('AI and Machine Learning'),
  ServiceName: z.string().min(1),
  SkuId: z.string().nullable(),
  SkuPriceId: z.string().nullable(),
  SubAccountId: z.string().nullable(),
  SubAccountName: z.string().nullable(),
  Tags: Json,
  x_ApiKeyId: z.string(),
  x_CustomerCost: Decimal.nullable(),
  x_CustomerId: z.string().nullable(),
  x_CustomId: z.string().nullable(),
  x_DeletionDeadline: Time.nullable(),
  x_Endpoint: z.string(),
  x_InputTokens: Decimal,
  x_ItemId: z.string().nullable(),
  x_JobId: z.string(),
  x_JobKind: z.enum(JOB_KINDS),
  x_OutputTokens: Decimal,
  x_PriceBookVersion: z.string().nullable(),
  x_ProviderDeadline: Time.nullable(),
  x_RecordId: z.string(),
  x_RecordVersion: Decimal,
  x_RequestHash: z.string().nullable(),
  x_ResponseHash: z.string().nullable(),
  x_RetrievalDeadline: Time.nullable(),
  x_Status: z.string().nullable(),
  x_Storage: z.string(),
  x_UsageEstimated: z.enum(['true', 'false']),
});
export type FocusRow = z.infer<typeof FocusRow>;

export const FOCUS_COLUMNS = Object.keys(FocusRow.shape) as readonly (keyof FocusRow)[];

/** Columns whose cells are numbers in a spreadsheet. */
export const FOCUS_NUMBERS: readonly (keyof FocusRow)[] = [
  'BilledCost',
  'ConsumedQuantity',
  'ContractedCost',
  'EffectiveCost',
  'ListCost',
  'PricingQuantity',
  'x_CustomerCost',
  'x_InputTokens',
  'x_OutputTokens',
  'x_RecordVersion',
];
