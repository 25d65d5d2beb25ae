import { OVERAGE_POLICY_NAMES } from '../../contracts/tenant.ts';
import { ADMIN_OPTIONS, defineCommand } from '../command.ts';
import { connectAdmin } from '../connection.ts';
import { exitCode } from '../exit-codes.ts';
import { oneOf } from '../option-values.ts';
import { fields, printJson } from '../output.ts';

const OPTIONS = {
  policy: { type: 'string', value: 'POLICY', help: 'charge, cap or suspend; without it the policy is shown' },
  ...ADMIN_OPTIONS,
} as const;

export const adminOverageCommand = defineCommand({
  name: 'admin overage',
  summary: 'set or show what happens to charges above what a job held',
  arguments: ['TENANT'],
  options: OPTIONS,
  details:
    'charge: the tenant pays them. cap: the gateway does. suspend: the tenant pays them, and the scope that overran ' +
    'submits nothing new until "admin suspensions TENANT --lift ID". Jobs keep the policy they were accepted under.',
  examples: ['admin overage tenant_acme --policy cap', 'admin overage tenant_acme'],
  async run({ values, positionals: [tenantId = ''] }, context) {
    const policy = values.policy === undefined ? undefined : oneOf('--policy', values.policy, OVERAGE_POLICY_NAMES);
    const calls = connectAdmin(values, context);
    const tenant =
      policy === undefined
        ? await calls.getTenant(tenantId)
        : await calls.updateTenant(tenantId, { overage_policy: policy });
    if (values.json) printJson(context, tenant);
    else {
      const pairs = [
        ['tenant', tenant.tenant_id],
        ['overage', tenant.overage_policy],
      ] as const;
      context.terminal.out.write(fields(context, pairs));
    }
    return exitCode('ok');
  },
});
