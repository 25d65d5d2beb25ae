import type pg from 'pg';
import { loadBudgetFacts } from '../db/admission-facts.ts';
import { TOTAL_START } from '../db/budget-periods.ts';
import type { JobRow } from '../db/job-rows.ts';
import type { BudgetFact } from '../domain/admission-facts.ts';
import { formatNumeric } from '../domain/money.ts';
import type { Quote } from '../domain/quote.ts';
import { holdOfBudget } from './budget-moves.ts';
import { appendEntries } from './entries.ts';

/**
 * Locks every budget the job must fit, in one order for everybody (by id), and reads them anew under the lock. Budgets
 * come last in the lock order, so the job's row is locked already. One that is set while the locks are waited for is
 * left out, as if it had been set a moment later: without its lock a second job could count on the same money.
 */
export async function lockBudgets(client: pg.PoolClient, job: JobRow, at: Date): Promise<BudgetFact[]> {
  const facts = await loadBudgetFacts(client, job, at);
  const ids = facts.map((fact) => fact.budgetId);
  if (ids.length === 0) return [];
  await client.query('SELECT lock_budgets($1)', [ids]);
  return (await loadBudgetFacts(client, job, at)).filter(({ budgetId }) => ids.includes(budgetId));
}

/**
 * Holds the quote's reservation for one submission: a hold for each budget, and one for each level of the job (tenant,
 * project, customer) that has no total budget. The caller has judged that it fits under the same locks. Once per
 * submission.
 */
export async function reserve(
  client: pg.PoolClient,
  job: JobRow,
  quote: Quote,
  budgets: readonly BudgetFact[],
): Promise<void> {
  const amount = formatNumeric(quote.reserved);
  for (const budget of budgets) {
    await holdOfBudget(client, budget, quote.reserved);
    await insertHold(client, job, { ...budget, amount });
  }
  for (const scope of levelsOf(job)) {
    if (budgets.some((budget) => budget.scope === scope && budget.period === 'total')) continue;
    await insertHold(client, job, { scope, period: 'total', budgetId: null, periodStart: TOTAL_START, amount });
  }
  const entry = { itemNo: 0, ordinal: job.submissionNo, actor: job.apiKeyId, cause: 'submit' };
  await appendEntries(client, job.key, [
    { ...entry, act: 'estimated', amount: quote.amount },
    { ...entry, act: 'reserved', amount: quote.reserved },
  ]);
}

function levelsOf({ projectId, customerId }: JobRow): BudgetFact['scope'][] {
  return [
    'tenant',
    ...(projectId === null ? [] : ['project' as const]),
    ...(customerId === null ? [] : ['customer' as const]),
  ];
}

async function insertHold(
  client: pg.PoolClient,
  job: JobRow,
  hold: { scope: string; period: string; budgetId: string | null; periodStart: string; amount: string },
): Promise<void> {
  await client.query(
    `INSERT INTO holds (job_id, submission_no, scope, period, budget_id, period_start, amount) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [job.key.uuid, job.submissionNo, hold.scope, hold.period, hold.budgetId, hold.periodStart, hold.amount],
  );
}
