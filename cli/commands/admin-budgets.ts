import type { SetBudget } from '../../contracts/budget.ts';
import { budgetTable } from '../budget-table.ts';
import { ADMIN_OPTIONS, defineCommand, type OptionValues } from '../command.ts';
import { connectAdmin } from '../connection.ts';
import { usageError } from '../errors.ts';
import { exitCode } from '../exit-codes.ts';
import { oneOf, readCount, readMoney } from '../option-values.ts';
import { printJson } from '../output.ts';

const ACTIONS = ['list', 'set', 'remove'] as const;
const PERIODS = ['total', 'month'] as const;

const OPTIONS = {
  project: { type: 'string', value: 'ID', help: 'the budget of this project; else that of the tenant itself' },
  customer: { type: 'string', value: 'ID', help: 'the budget of this customer' },
  period: { type: 'string', value: 'NAME', help: 'total (default) or month' },
  limit: { type: 'string', value: 'AMOUNT', help: 'set: how much may be held and settled, such as 250.00' },
  alerts: {
    type: 'string',
    value: 'PERCENTS',
    help: 'set: when to be told, such as 80,100; "none" for never (left out: as it is)',
  },
  ...ADMIN_OPTIONS,
} as const;

type Values = OptionValues<typeof OPTIONS>;

export const adminBudgetsCommand = defineCommand({
  name: 'admin budgets',
  summary: 'list, set or remove what a tenant, project or customer may spend',
  arguments: ['ACTION', 'TENANT'],
  options: OPTIONS,
  details:
    'ACTION is list, set (with --limit) or remove. A job must fit every budget of its tenant, project and customer. Jobs ' +
    'that were accepted go on, whatever the limit is set to; a limit below what they hold leaves less than nothing.',
  examples: [
    'admin budgets list tenant_acme',
    'admin budgets set tenant_acme --period month --limit 250.00 --alerts 50,80,100',
    'admin budgets set tenant_acme --customer cust_1 --limit 25.00',
    'admin budgets remove tenant_acme --customer cust_1',
  ],
  async run({ values, positionals: [given = '', tenantId = ''] }, context) {
    const action = oneOf('ACTION', given, ACTIONS);
    const wanted = action === 'list' ? null : readBudget(action, values);
    const calls = connectAdmin(values, context);
    const answer = wanted === null ? await calls.listBudgets(tenantId) : await calls.setBudget(tenantId, wanted);
    if (values.json) printJson(context, answer);
    else if (answer.data.length === 0) context.terminal.out.write(`No budget limits ${tenantId}.\n`);
    else context.terminal.out.write(budgetTable(context, answer.data));
    return exitCode('ok');
  },
});

function readBudget(action: 'set' | 'remove', values: Values): SetBudget {
  const key = { ...readScope(values), period: oneOf('--period', values.period ?? 'total', PERIODS) };
  if (action === 'remove') return { ...key, limit: null };
  if (values.limit === undefined) throw usageError('admin budgets set needs --limit.', '--limit');
  return {
    ...key,
    limit: readMoney('--limit', values.limit),
    ...(values.alerts !== undefined && { alert_percents: readPercents(values.alerts) }),
  };
}

function readScope({ project, customer }: Values): Pick<SetBudget, 'scope' | 'scope_id'> {
  if (project !== undefined && customer !== undefined) {
    throw usageError('A budget is of a project or of a customer, not of both.', '--customer');
  }
  if (project !== undefined) return { scope: 'project', scope_id: project };
  return customer === undefined ? { scope: 'tenant' } : { scope: 'customer', scope_id: customer };
}

function readPercents(given: string): number[] {
  if (given === 'none') return [];
  return given.split(',').map((percent) => readCount('--alerts', percent.trim(), 1, 1_000));
}
