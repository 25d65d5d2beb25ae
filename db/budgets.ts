import type pg from 'pg';
import { type Amount, formatNumeric, parseNumeric } from '../domain/money.ts';
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
  /** limit − held − settled; never below zero. */
  readonly available: Amount;
  readonly currency: string;
}

export interface NewBudget {
  readonly tenantId: string;
  readonly scope: Budget['scope'];
  /** The id of the tenant, project or customer that is limited. */
  readonly scopeId: string;
  readonly period: Budget['period'];
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

/** A tenant's budgets, all of them for its administrator; a project's or customer's key sees only its own. */
export async function listBudgets(db: Queryable, owner: JobScope, now: Date): Promise<readonly Budget[]> {
  const { rows } = await db.query<BudgetRow>(
    `SELECT b.budget_id, b.scope, b.scope_id, b.period, to_char(m.month_start, 'YYYY-MM-DD') AS month_start,
       b.limit_amount, coalesce(p.held, 0) AS held, coalesce(p.settled, 0) AS settled, t.currency
     FROM budgets b
     JOIN tenants t USING (tenant_id)
     CROSS JOIN LATERAL (SELECT date_trunc('month', $2::timestamptz AT TIME ZONE t.time_zone)::date AS month_start) m
     LEFT JOIN budget_periods p ON p.budget_id = b.budget_id
       AND p.period_start = CASE b.period WHEN 'month' THEN m.month_start ELSE DATE '1970-01-01' END
     WHERE b.tenant_id = $1
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
  readonly month_start: string;
  readonly limit_amount: string;
  readonly held: string;
  readonly settled: string;
  readonly currency: string;
}

function toBudget(row: BudgetRow): Budget {
  const limit = parseNumeric(row.limit_amount);
  const held = parseNumeric(row.held);
  const settled = parseNumeric(row.settled);
  const rest = limit - held - settled;
  return {
    budgetId: row.budget_id,
    scope: row.scope,
    scopeId: row.scope_id,
    period: row.period,
    periodStart: row.period === 'month' ? row.month_start : null,
    limit,
    held,
    settled,
    available: rest > 0n ? rest : 0n,
    currency: row.currency,
  };
}
