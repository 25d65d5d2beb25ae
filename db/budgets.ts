import type pg from 'pg';
import { type Amount, formatNumeric, parseNumeric } from '../domain/money.ts';
import { periodStartOf } from './budget-periods.ts';
import { newId } from './ids.ts';
import type { JobScope } from './job-scope.ts';

type Queryable = Pick<pg.ClientBase, 'query'>;

/** A limit, with what is held and settled of it in the period that is current. */
export interface Budget {
  readonly budgetId: string;
  readonly scope: 'tenant' | 'project' | 'customer';
  readonly scopeId: string;
  readonly period: 'total' | 'month';
  /** YYYY-MM-DD, the first day of the tenant's month; null for `total`. */
  readonly periodStart: string | null;
  readonly limit: Amount;
  readonly held: Amount;
  readonly settled: Amount;
  /** limit − held − settled, exactly; below zero after overage, or a limit set below what was committed. */
  readonly available: Amount;
  /** Percentages of the limit that are told of when they are reached, rising. */
  readonly alertPercents: readonly number[];
  /** Those that were reached in this period. */
  readonly alerts: readonly BudgetAlert[];
  readonly currency: string;
}

export interface BudgetAlert {
  readonly percent: number;
  readonly crossedAt: Date;
}

/** Which budget is meant. A scope and period has one at most. */
export interface BudgetKey {
  readonly tenantId: string;
  readonly scope: Budget['scope'];
  /** The id of the tenant, project or customer that is limited. */
  readonly scopeId: string;
  readonly period: Budget['period'];
}

export interface NewBudget extends BudgetKey {
  readonly limit: Amount;
}

/** Returns the new budget's id, or null when that scope and period already has a budget. */
export async function insertBudget(db: Queryable, budget: NewBudget): Promise<string | null> {
  const { rows } = await db.query<{ budget_id: string }>(
    `INSERT INTO budgets (budget_id, tenant_id, scope, scope_id, period, limit_amount) VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT (tenant_id, scope, scope_id, period) DO NOTHING RETURNING budget_id`,
    [newId('budget'), budget.tenantId, budget.scope, budget.scopeId, budget.period, formatNumeric(budget.limit)],
  );
  return rows[0]?.budget_id ?? null;
}

/**
 * Sets a limit, and the percentages where they are given; a new budget counts what is held from then on. The row is
 * locked until the transaction ends, as by a reservation. Answers its id.
 */
export async function setBudget(
  client: pg.PoolClient,
  key: BudgetKey,
  { limit, alertPercents }: { readonly limit: Amount; readonly alertPercents: readonly number[] | null },
): Promise<string> {
  const { rows } = await client.query<{ budget_id: string }>(
    `INSERT INTO budgets AS b (budget_id, tenant_id, scope, scope_id, period, limit_amount, alert_percents)
     VALUES ($1, $2, $3, $4, $5, $6, coalesce($7::int[], ARRAY[80, 100]))
     ON CONFLICT (tenant_id, scope, scope_id, period) DO UPDATE
       SET limit_amount = excluded.limit_amount, alert_percents = coalesce($7::int[], b.alert_percents)
     RETURNING budget_id`,
    [newId('budget'), key.tenantId, key.scope, key.scopeId, key.period, formatNumeric(limit), alertPercents],
  );
  if (rows[0] === undefined) throw new Error('an upsert returned no row');
  return rows[0].budget_id;
}

/** Lifts a limit. What its jobs hold and have settled stays counted. No budget is no error. */
export async function liftBudget(client: pg.PoolClient, key: BudgetKey): Promise<void> {
  await client.query(
    'UPDATE budgets SET limit_amount = NULL WHERE tenant_id = $1 AND scope = $2 AND scope_id = $3 AND period = $4',
    [key.tenantId, key.scope, key.scopeId, key.period],
  );
}

/**
 * A tenant's budgets, all of them for its administrator; a project's or customer's key sees only its own. One statement,
 * so that held, settled and limit are of one moment.
 */
export async function listBudgets(db: Queryable, owner: JobScope, now: Date): Promise<readonly Budget[]> {
  const { rows } = await db.query<BudgetRow>(
    `SELECT b.budget_id, b.scope, b.scope_id, b.period, to_char(m.period_start, 'YYYY-MM-DD') AS period_start,
       b.limit_amount, coalesce(p.held, 0) AS held, coalesce(p.settled, 0) AS settled, b.alert_percents, t.currency,
       ARRAY(SELECT jsonb_build_object('percent', a.percent, 'crossed_at', a.crossed_at) FROM budget_alerts a
         WHERE a.budget_id = b.budget_id AND a.period_start = m.period_start ORDER BY a.percent) AS alerts
     FROM budgets b
     JOIN tenants t USING (tenant_id)
     CROSS JOIN LATERAL (SELECT ${periodStartOf('b.period', '$2', 't.time_zone')} AS period_start) m
     LEFT JOIN budget_periods p ON p.budget_id = b.budget_id AND p.period_start = m.period_start
     WHERE b.tenant_id = $1 AND b.limit_amount IS NOT NULL
       AND ($3::text IS NULL AND $4::text IS NULL
         OR b.scope = 'project' AND b.scope_id = $3 OR b.scope = 'customer' AND b.scope_id = $4)
     ORDER BY array_position(ARRAY['tenant', 'project', 'customer'], b.scope), b.scope_id, b.period`,
    [owner.tenantId, now, owner.projectId, owner.customerId],
  );
  return rows.map(toBudget);
}

interface BudgetRow {
  readonly budget_id: string;
  readonly scope: Budget['scope'];
  readonly scope_id: string;
  readonly period: Budget['period'];
  readonly period_start: string;
  readonly limit_amount: string;
  readonly held: string;
  readonly settled: string;
  readonly alert_percents: readonly number[];
  readonly alerts: readonly { readonly percent: number; readonly crossed_at: string }[];
  readonly currency: string;
}

function toBudget(row: BudgetRow): Budget {
  const limit = parseNumeric(row.limit_amount);
  const held = parseNumeric(row.held);
  const settled = parseNumeric(row.settled);
  return {
    budgetId: row.budget_id,
    scope: row.scope,
    scopeId: row.scope_id,
    period: row.period,
    periodStart: row.period === 'month' ? row.period_start : null,
    limit,
    held,
    settled,
    available: limit - held - settled,
    alertPercents: row.alert_percents,
    alerts: row.alerts.map(({ percent, crossed_at }) => ({ percent, crossedAt: new Date(crossed_at) })),
    currency: row.currency,
  };
}
