import type { Budget } from '../contracts/budget.ts';
import type { Context } from './command.ts';
import { type Column, table } from './output.ts';

const COLUMNS: readonly Column<Budget>[] = [
  { title: 'SCOPE', cell: ({ scope, scope_id }) => `${scope} ${scope_id}` },
  {
    title: 'PERIOD',
    cell: ({ period, period_start }) => (period_start === null ? period : `${period} from ${period_start}`),
  },
  { title: 'LIMIT', align: 'right', cell: ({ limit }) => limit },
  { title: 'HELD', align: 'right', cell: ({ held }) => held },
  { title: 'SETTLED', align: 'right', cell: ({ settled }) => settled },
  { title: 'AVAILABLE', align: 'right', cell: ({ available }) => available },
  { title: 'CURRENCY', cell: ({ currency }) => currency },
  { title: 'ALERTS', cell: describeAlerts },
];

export function budgetTable(context: Pick<Context, 'terminal'>, budgets: readonly Budget[]): string {
  return table(context, COLUMNS, budgets);
}

function describeAlerts({ alert_percents: percents, alerts }: Budget): string | null {
  if (alerts.length > 0) return `${alerts.map(({ percent }) => `${percent} %`).join(', ')} reached`;
  return percents.length === 0 ? null : `at ${percents.map((percent) => `${percent} %`).join(', ')}`;
}
