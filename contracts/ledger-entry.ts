import { z } from 'zod';
import { Currency, Money } from './money.ts';
import { NextCursor, PageQuery } from './pagination.ts';
import { Timestamp } from './text.ts';

const LedgerEntry = z
  .object({
    event: z.string().meta({ example: 'batch.item.settled' }),
    item_id: z.string().nullable().meta({ description: 'Null where the entry is about the job as a whole.' }),
    custom_id: z.string().nullable(),
    ordinal: z.int().meta({ description: 'Tells entries of the same event apart: the submission, or the attempt.' }),
    amount: Money,
    currency: Currency,
    actor: z.string(),
    cause: z.string(),
    account: z
      .enum(['tenant', 'gateway'])
      .meta({ description: 'Whose money it is about: what the tenant is charged, or what the gateway itself bears.' }),
    created_at: Timestamp,
  })
  .meta({ id: 'LedgerEntry' });

export const LedgerPage = z.object({ data: z.array(LedgerEntry), next_cursor: NextCursor }).meta({
  id: 'LedgerPage',
  description: 'Entries about the job first, then those of its items in the order of the manifest.',
});

export type LedgerPage = z.infer<typeof LedgerPage>;

export const LedgerQuery = z.strictObject({
  ...PageQuery,
  level: z
    .enum(['job', 'item'])
    .optional()
    .meta({ description: 'Only entries about the job, or only those of items.' }),
});
export type LedgerQuery = z.infer<typeof LedgerQuery>;
