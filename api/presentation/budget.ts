import type { Budget as PublicBudget } from '../../contracts/budget.ts';
import type { Budget } from '../../db/budgets.ts';
import { formatAmount } from '../../domain/money.ts';

export function presentBudget(budget: Budget): PublicBudget {
  return {
    scope: budget.scope,
    scope_id: budget.scopeId,
    period: budget.period,
    period_start: budget.periodStart,
    limit: formatAmount(budget.limit),
    held: formatAmount(budget.held),
    settled: formatAmount(budget.settled),
    available: formatAmount(budget.available),
    alert_percents: [...budget.alertPercents],
    alerts: budget.alerts.map(({ percent, crossedAt }) => ({ percent, crossed_at: crossedAt.toISOString() })),
    currency: budget.currency,
  };
}
