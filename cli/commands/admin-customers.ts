import type { Customer } from '../../contracts/account.ts';
import type { AdminCalls } from '../admin-calls.ts';
import { ADMIN_OPTIONS, defineCommand } from '../command.ts';
import { connectAdmin } from '../connection.ts';
import { exitCode } from '../exit-codes.ts';
import { requireOption } from '../identity-actions.ts';
import { oneOf } from '../option-values.ts';
import { type Column, printJson, table, time } from '../output.ts';
import { readAll, requireOperand } from '../override-actions.ts';

const ACTIONS = ['list', 'create', 'show', 'rename', 'suspend', 'resume'] as const;
const COLUMNS: readonly Column<Customer>[] = [
  { title: 'ID', cell: ({ customer_id }) => customer_id },
  { title: 'NAME', cell: ({ name }) => name, maxWidth: 40 },
  { title: 'CREATED', cell: ({ created_at }) => time(created_at) },
  { title: 'SUSPENDED', cell: ({ suspended_at }) => time(suspended_at) },
  { title: 'REASON', cell: ({ suspension_reason }) => suspension_reason, maxWidth: 40 },
];
const OPTIONS = {
  name: { type: 'string', value: 'TEXT', help: 'create, rename: what people call it' },
  reason: { type: 'string', value: 'TEXT', help: 'suspend: why; whoever is refused is told it' },
  ...ADMIN_OPTIONS,
} as const;

export const adminCustomersCommand = defineCommand({
  name: 'admin customers',
  summary: 'list, create, show, rename, suspend or resume the customers of a tenant',
  arguments: ['ACTION', 'TENANT', '[ID]'],
  options: OPTIONS,
  details: 'ACTION is list, create [ID], show, rename, suspend or resume ID. Without ID, create makes one.',
  examples: [
    'admin customers create tenant_acme cust_123 --name "Shop 123"',
    'admin customers suspend tenant_acme cust_123 --reason "Contract ended."',
  ],
  async run({ values, positionals: [given = '', tenantId = '', operand] }, context) {
    const action = oneOf('ACTION', given, ACTIONS);
    const calls = connectAdmin(values, context);
    const act = (id: string): ReturnType<AdminCalls['getCustomer']> => {
      if (action === 'rename') return calls.renameCustomer(tenantId, id, requireOption(values, 'name'));
      if (action === 'suspend') return calls.suspendCustomer(tenantId, id, requireOption(values, 'reason'));
      return action === 'resume' ? calls.resumeCustomer(tenantId, id) : calls.getCustomer(tenantId, id);
    };
    let customers: readonly Customer[];
    if (action === 'list') {
      requireOperand('admin customers', action, null, operand);
      customers = await readAll((query) => calls.listCustomers(tenantId, query), {});
    } else if (action === 'create') {
      customers = [await calls.createCustomer(tenantId, { customer_id: operand, name: requireOption(values, 'name') })];
    } else customers = [await act(requireOperand('admin customers', action, 'ID', operand))];
    if (values.json) for (const customer of customers) printJson(context, customer);
    else context.terminal.out.write(table(context, COLUMNS, customers));
    return exitCode('ok');
  },
});
