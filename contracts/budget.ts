import { z } from 'zod';
import { Currency, Money, MoneyInput } from './money.ts';
import { plainText, Timestamp, uniqueList } from './text.ts';

const MAX_ALERTS = 10;
/** Beyond 100 for those who want to know how far overage went. */
const MAX_PERCENT = 1_000;

const Scope = z.enum(['tenant', 'project', 'customer']);
const Period = z
  .enum(['total', 'month'])
  .meta({ description: 'A month is that of the tenant’s time zone; a job’s money stays in the one it was held in.' });

const BudgetAlert = z
  .object({ percent: z.int(), crossed_at: Timestamp })
  .meta({ description: 'Held and settled together reached this part of the limit. Told once in a period.' });

export const Budget = z
  .object({
    scope: Scope,
    scope_id: z.string(),
    period: Period,
    period_start: z.string().nullable().meta({ description: 'First day of the month; null for `total`.' }),
    limit: Money,
    held: Money,
    settled: Money,
    available: Money.meta({
      description:
        'limit − held − settled, exactly. Negative after overage, or where the limit was lowered below both.',
    }),
    alert_percents: z.array(z.int()),
    alerts: z.array(BudgetAlert),
    currency: Currency,
  })
  .meta({ id: 'Budget' });
export type Budget = z.infer<typeof Budget>;

export const BudgetList = z
  .object({ data: z.array(Budget), as_of: Timestamp })
  .meta({ id: 'BudgetList', description: 'Budgets with what is held and settled of each in its current period.' });
export type BudgetList = z.infer<typeof BudgetList>;

/** One budget, named by its scope and period. */
export const SetBudget = z
  .strictObject({
    scope: Scope,
    scope_id: plainText(128)
      .optional()
      .meta({ description: 'The id of the project or customer; may be left out for the tenant itself.' }),
    period: Period,
    limit: MoneyInput.nullable().meta({
      description:
        'In the tenant’s currency. It may be lower than what is held and settled already: then nothing new fits. Null ' +
        'lifts the limit; what is held and settled stays counted.',
      example: '250.00',
    }),
    alert_percents: uniqueList(z.int().min(1).max(MAX_PERCENT), { max: MAX_ALERTS, min: 0 })
      .optional()
      .meta({
        description: 'Left out, it stays as it is; 80 and 100 for a new budget. An empty list is no alerts.',
        example: [80, 100],
      }),
  })
  .superRefine(({ scope, scope_id: scopeId }, context) => {
    if (scope === 'tenant' || scopeId !== undefined) return;
    context.addIssue({ code: 'custom', path: ['scope_id'], message: `must name the ${scope}` });
  })
  .meta({ id: 'SetBudget' });
export type SetBudget = z.infer<typeof SetBudget>;
