import type { Budget } from '../../contracts/budget.ts';
import { CONNECTION_OPTIONS, defineCommand } from '../command.ts';
import { connectTenant } from '../connection.ts';
import { exitCode } from '../exit-codes.ts';
import { type Column, printJson, table } from '../output.ts';

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
];

export const budgetsCommand = defineCommand({
  name: 'budgets',
  summary: 'show what may still be spent',
  arguments: [],
  options: CONNECTION_OPTIONS,
  examples: ['budgets'],
  async run({ values }, context) {
    const budgets = await connectTenant(values, context).listBudgets();
    if (values.json) printJson(context, budgets);
    else if (budgets.data.length === 0) context.terminal.out.write('No budget limits this key.\n');
    else context.terminal.out.write(table(context, COLUMNS, budgets.data));
    return exitCode('ok');
  },
});
