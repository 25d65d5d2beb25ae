import type pg from 'pg';
import { insertEvent } from '../db/events.ts';
import { type Amount, formatAmount, formatNumeric, parseNumeric } from '../domain/money.ts';

/** A budget in one of its periods; `periodStart` is YYYY-MM-DD. */
export interface BudgetPeriod {
  readonly budgetId: string;
  readonly periodStart: string;
}

/** Adds to what a budget holds, and tells of the percentages of its limit that are reached by it. */
export async function holdOfBudget(client: pg.PoolClient, budget: BudgetPeriod, amount: Amount): Promise<void> {
  await moveAndAlert(client, ADD_HELD, budget, [formatNumeric(amount), '0']);
}

/**
 * Charges a budget: `drawn` of it was held. Where all of it was, held and settled together are as before, so that no
 * percentage can be reached: one update and nothing else. What goes beyond the hold is overage, and may reach one.
 */
export async function chargeBudget(
  client: pg.PoolClient,
  budget: BudgetPeriod,
  { drawn, charge }: { readonly drawn: Amount; readonly charge: Amount },
): Promise<void> {
  const amounts = [formatNumeric(-drawn), formatNumeric(charge)] as const;
  if (charge > drawn) await moveAndAlert(client, MOVE, budget, amounts);
  else await client.query(MOVE, [budget.budgetId, budget.periodStart, ...amounts]);
}

/** Tells of the percentages that are reached without a movement: after a limit was lowered. The budget's row is locked. */
export async function alertOfBudget(client: pg.PoolClient, budget: BudgetPeriod): Promise<void> {
  await moveAndAlert(client, MOVE, budget, ['0', '0']);
}

const ADD_HELD = `INSERT INTO budget_periods AS p (budget_id, period_start, held, settled) VALUES ($1, $2, $3, $4)
  ON CONFLICT (budget_id, period_start) DO UPDATE SET held = p.held + excluded.held, settled = p.settled + excluded.settled`;
const MOVE = `UPDATE budget_periods SET held = held + $3, settled = settled + $4 WHERE budget_id = $1 AND period_start = $2`;

/**
 * The movement and its alerts in one statement: the key of budget_alerts lets each be told once in a period, and the
 * lock on the period's row, which the movement takes anyway, puts those of one budget in order.
 */
async function moveAndAlert(
  client: pg.PoolClient,
  movement: typeof ADD_HELD | typeof MOVE,
  { budgetId, periodStart }: BudgetPeriod,
  amounts: readonly [held: string, settled: string],
): Promise<void> {
  const { rows } = await client.query<AlertRow>(
    `WITH moved AS (${movement} RETURNING budget_id, period_start, held, settled),
     crossed AS (
       INSERT INTO budget_alerts (budget_id, period_start, percent)
       SELECT m.budget_id, m.period_start, percent
       FROM moved m JOIN budgets b USING (budget_id) CROSS JOIN unnest(b.alert_percents) AS percent
       WHERE m.held + m.settled > 0 AND (m.held + m.settled) * 100 >= b.limit_amount * percent
       ON CONFLICT DO NOTHING
       RETURNING percent
     )
     SELECT c.percent, b.tenant_id, b.scope, b.scope_id, b.period, to_char(m.period_start, 'YYYY-MM-DD') AS period_start,
       b.limit_amount, m.held, m.settled, t.currency
     FROM crossed c CROSS JOIN moved m JOIN budgets b USING (budget_id) JOIN tenants t USING (tenant_id)
     ORDER BY c.percent`,
    [budgetId, periodStart, ...amounts],
  );
  for (const row of rows) {
    await insertEvent(client, {
      tenantId: row.tenant_id,
      jobId: null,
      projectId: row.scope === 'project' ? row.scope_id : null,
      type: 'budget.alert',
      data: toAlert(row),
    });
  }
}

interface AlertRow {
  readonly percent: number;
  readonly tenant_id: string;
  readonly scope: string;
  readonly scope_id: string;
  readonly period: string;
  readonly period_start: string;
  readonly limit_amount: string;
  readonly held: string;
  readonly settled: string;
  readonly currency: string;
}

/** As it is told: amounts exact, and as they were when the percentage was reached. */
function toAlert(row: AlertRow) {
  return {
    percent: row.percent,
    scope: row.scope,
    scope_id: row.scope_id,
    period: row.period,
    period_start: row.period === 'month' ? row.period_start : null,
    limit: formatAmount(parseNumeric(row.limit_amount)),
    held: formatAmount(parseNumeric(row.held)),
    settled: formatAmount(parseNumeric(row.settled)),
    currency: row.currency,
  };
}
