import { z } from 'zod';
import { Currency, Money } from './money.ts';
import { Timestamp } from './text.ts';

export const Budget = z
  .object({
    scope: z.enum(['tenant', 'project', 'customer']),
    scope_id: z.string(),
    period: z.enum(['total', 'month']),
    period_start: z.string().nullable().meta({ description: 'First day of the month; null for `total`.' }),
    limit: Money,
    held: Money,
    settled: Money,
    available: Money.meta({ description: 'limit − held − settled; never below zero.' }),
    currency: Currency,
  })
  .meta({ id: 'Budget' });
export type Budget = z.infer<typeof Budget>;

export const BudgetList = z
  .object({ data: z.array(Budget), as_of: Timestamp })
  .meta({ id: 'BudgetList', description: 'The budgets the caller’s key spends from.' });
export type BudgetList = z.infer<typeof BudgetList>;
