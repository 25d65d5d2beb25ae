import { z } from 'zod';
import { INVOICE_VERDICTS } from '../domain/invoice.ts';
import { Currency, Money } from './money.ts';
import { plainText, Timestamp } from './text.ts';

export const InvoiceCsv = z.string().meta({
  description:
    'A header line and a line for each amount billed, in UTF-8: `provider,provider_batch_id,billed_amount,currency`. Other ' +
    'columns are passed over. Lines of one batch are added up; together they are all that the provider bills for it.',
  example: 'provider,provider_batch_id,billed_amount,currency\nopenai,batch_abc123,12.50,USD\n',
});

const Flag = z.enum(['true', 'false']).default('false');

export const AdjustmentPreviewQuery = z.strictObject({
  invoice: plainText(100).meta({
    description: 'The provider’s reference. A batch is adjusted once for each.',
    example: 'INV-2026-11',
  }),
  charge_tenant: Flag.meta({
    description:
      '`true` charges the difference to the job’s tenant; else it is the gateway’s own and the tenant pays what it paid.',
  }),
});
export type AdjustmentPreviewQuery = z.infer<typeof AdjustmentPreviewQuery>;

export const AdjustmentQuery = AdjustmentPreviewQuery.extend({
  confirm: z.literal('true').meta({ description: 'Said after a look at the preview.' }),
});

const BilledBatch = z
  .object({
    provider: z.string(),
    provider_batch_id: z.string(),
    job_id: z.string(),
    tenant_id: z.string(),
    shard: z.int(),
    attempt: z.int(),
    status: z.enum([...INVOICE_VERDICTS, 'posted']).meta({
      description:
        '`differs`: can be posted. `posted`: was, under this invoice. `equal`: nothing to post. `job_open`: charges may still ' +
        'come. `currency_differs`: nothing is converted. `below_zero`: the tenant would be charged less than nothing.',
    }),
    billed: Money,
    charged: Money.meta({ description: 'By the ledger, with what earlier invoices corrected.' }),
    difference: Money.meta({ description: 'Billed less charged; below zero where too much was charged.' }),
    currency: Currency.meta({ description: 'Of the invoice.' }),
    posted_at: Timestamp.nullable(),
  })
  .meta({ id: 'BilledBatch' });

const UnknownBatch = z
  .object({ provider: z.string(), provider_batch_id: z.string(), billed: Money, currency: Currency })
  .meta({ id: 'UnknownBatch', description: 'A batch on the invoice that is none of the gateway’s.' });

export const InvoiceReport = z
  .object({
    invoice: z.string(),
    account: z.enum(['tenant', 'gateway']).meta({ description: 'Whose money the differences move.' }),
    newly_posted: z.int().meta({ description: 'Adjustments this call posted; 0 in a preview and in a repetition.' }),
    batches: z.array(BilledBatch),
    unknown: z.array(UnknownBatch),
  })
  .meta({ id: 'InvoiceReport' });
export type InvoiceReport = z.infer<typeof InvoiceReport>;
