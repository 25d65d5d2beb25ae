import { z } from 'zod';
import { ErrorCodeName, ErrorDetailRow } from './error.ts';
import { Currency, Money } from './money.ts';
import { Quote, RejectedTarget, Target } from './quote.ts';

const Finding = z
  .object({
    error: ErrorCodeName,
    message: z.string(),
    field: z.string().meta({ example: 'items[*].request.stream' }),
    items: z.int().meta({ description: 'How many items it concerns; 0 where it is about the job as a whole.' }),
    details: z.array(ErrorDetailRow).meta({ description: 'The first of those items, each with the exact place.' }),
  })
  .meta({ id: 'Finding' });

const BudgetCheck = z
  .object({
    scope: z.enum(['tenant', 'project', 'customer']),
    scope_id: z.string(),
    period: z.enum(['total', 'month']),
    limit: Money,
    available: Money,
    fits: z.boolean(),
    currency: Currency,
  })
  .meta({ id: 'BudgetCheck' });

/** What a submit would say, without its effect. */
export const Validation = z
  .object({
    ok: z.boolean(),
    findings: z.array(Finding),
    target: Target.nullable(),
    rejected_targets: z.array(RejectedTarget),
    estimate: Quote.nullable().meta({ description: 'Null while a finding other than money stands.' }),
    budgets: z.array(BudgetCheck),
  })
  .meta({ id: 'Validation' });
export type Validation = z.infer<typeof Validation>;
