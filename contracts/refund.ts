import { z } from 'zod';
import { Currency, Money, MoneyInput } from './money.ts';
import { plainText, Timestamp } from './text.ts';

export const RefundItem = z
  .strictObject({
    reason: plainText(500).meta({ description: 'Why, as it will stand in the ledger that the tenant reads.' }),
    amount: MoneyInput.refine((text) => /[1-9]/.test(text), 'must be more than nothing')
      .optional()
      .meta({
        description: 'At most what it was charged; all of that where it is left out.',
        example: '0.000088',
      }),
  })
  .meta({ id: 'RefundItem' });
export type RefundItem = z.infer<typeof RefundItem>;

/** What is on record of a refund, whatever it is of. */
const REFUND = {
  charged: Money.meta({ description: 'What it was charged when it settled.' }),
  refunded: Money,
  currency: Currency,
  reason: z.string(),
  actor: z.string().meta({ description: 'The id of the operator’s key.' }),
  refunded_at: Timestamp,
};

export const TaskRefund = z.object({ task_id: z.string(), ...REFUND }).meta({ id: 'TaskRefund' });
export type TaskRefund = z.infer<typeof TaskRefund>;

export const ItemRefund = z
  .object({
    job_id: z.string(),
    item_id: z.string(),
    custom_id: z.string(),
    ...REFUND,
  })
  .meta({ id: 'ItemRefund' });
export type ItemRefund = z.infer<typeof ItemRefund>;
