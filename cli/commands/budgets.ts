import { budgetTable } from '../budget-table.ts';
import { CONNECTION_OPTIONS, defineCommand } from '../command.ts';
import { connectTenant } from '../connection.ts';
import { exitCode } from '../exit-codes.ts';
import { printJson } from '../output.ts';

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
    else context.terminal.out.write(budgetTable(context, budgets.data));
    return exitCode('ok');
  },
});
