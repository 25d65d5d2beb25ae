import type { Tenant } from '../../contracts/tenant.ts';
import type { AdminCalls } from '../admin-calls.ts';
import { ADMIN_OPTIONS, defineCommand } from '../command.ts';
import { connectAdmin } from '../connection.ts';
import { exitCode } from '../exit-codes.ts';
import { requireOption } from '../identity-actions.ts';
import { oneOf } from '../option-values.ts';
import { type Column, printJson, table, time } from '../output.ts';
import { readAll, requireOperand } from '../override-actions.ts';

const ACTIONS = ['list', 'create', 'show', 'rename', 'suspend', 'resume'] as const;
const COLUMNS: readonly Column<Tenant>[] = [
  { title: 'ID', cell: ({ tenant_id }) => tenant_id },
  { title: 'NAME', cell: ({ name }) => name, maxWidth: 40 },
  { title: 'CURRENCY', cell: ({ currency }) => currency },
  { title: 'TIME ZONE', cell: ({ time_zone }) => time_zone },
  { title: 'SUSPENDED', cell: ({ suspended_at }) => time(suspended_at) },
  { title: 'REASON', cell: ({ suspension_reason }) => suspension_reason, maxWidth: 40 },
];
const OPTIONS = {
  name: { type: 'string', value: 'TEXT', help: 'create, rename: what people call it' },
  currency: { type: 'string', value: 'CODE', help: 'create: what it pays in (USD)' },
  'time-zone': { type: 'string', value: 'NAME', help: 'create: at whose midnight its months begin (UTC)' },
  reason: { type: 'string', value: 'TEXT', help: 'suspend: why; whoever is refused is told it' },
  ...ADMIN_OPTIONS,
} as const;

export const adminTenantsCommand = defineCommand({
  name: 'admin tenants',
  summary: 'list, create, show, rename, suspend or resume tenants',
  arguments: ['ACTION', '[TENANT]'],
  options: OPTIONS,
  details:
    'ACTION is list, create [TENANT], show, rename, suspend or resume TENANT. Without TENANT, create makes an id. A suspended ' +
    'tenant starts nothing new; what runs goes on.',
  examples: [
    'admin tenants create tenant_acme --name Acme --time-zone Europe/Berlin',
    'admin tenants list',
    'admin tenants suspend tenant_acme --reason "Invoice 4711 is due."',
  ],
  async run({ values, positionals: [given = '', operand] }, context) {
    const action = oneOf('ACTION', given, ACTIONS);
    const act = (calls: AdminCalls, tenantId: string): Promise<Tenant> => {
      if (action === 'rename') return calls.updateTenant(tenantId, { name: requireOption(values, 'name') });
      if (action === 'suspend') return calls.suspendTenant(tenantId, requireOption(values, 'reason'));
      return action === 'resume' ? calls.resumeTenant(tenantId) : calls.getTenant(tenantId);
    };
    let tenants: readonly Tenant[];
    if (action === 'list') {
      requireOperand('admin tenants', action, null, operand);
      tenants = await readAll(connectAdmin(values, context).listTenants, {});
    } else if (action === 'create') {
      const name = requireOption(values, 'name');
      const { currency, 'time-zone': time_zone } = values;
      const body = { tenant_id: operand, name, currency, time_zone };
      tenants = [await connectAdmin(values, context).createTenant(body)];
    } else {
      const tenantId = requireOperand('admin tenants', action, 'TENANT', operand);
      tenants = [await act(connectAdmin(values, context), tenantId)];
    }
    if (values.json) for (const tenant of tenants) printJson(context, tenant);
    else context.terminal.out.write(table(context, COLUMNS, tenants));
    return exitCode('ok');
  },
});
