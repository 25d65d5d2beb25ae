import type { ChangeAllowList } from '../../contracts/allow-list.ts';
import { ADMIN_OPTIONS, defineCommand } from '../command.ts';
import { connectAdmin } from '../connection.ts';
import { usageError } from '../errors.ts';
import { exitCode } from '../exit-codes.ts';
import { fields, printJson } from '../output.ts';

const ALL = 'all';
const OPTIONS = {
  key: { type: 'string', value: 'ID', help: "only the jobs of this key, by its id; else all of the tenant's" },
  models: {
    type: 'string',
    value: 'NAMES',
    help: 'aliases, model ids or provider/model, parted by commas; "all" lifts the limit',
  },
  providers: { type: 'string', value: 'NAMES', help: 'parted by commas; "all" lifts the limit' },
  ...ADMIN_OPTIONS,
} as const;

export const adminAllowCommand = defineCommand({
  name: 'admin allow',
  summary: 'set or show which models and providers a tenant or key may use',
  arguments: ['TENANT'],
  options: OPTIONS,
  details: 'A key may use what both its own lists and those of its tenant allow. Jobs that were accepted go on.',
  examples: [
    'admin allow tenant_acme --providers openai,anthropic',
    'admin allow tenant_acme --key key_01j7zb8k3te9aabfm0z0e2d3k4 --models analysis-small',
    'admin allow tenant_acme --providers all',
    'admin allow tenant_acme',
  ],
  async run({ values, positionals: [tenantId = ''] }, context) {
    const change: ChangeAllowList = {
      ...(values.models !== undefined && { allowed_models: readNames('--models', values.models) }),
      ...(values.providers !== undefined && { allowed_providers: readNames('--providers', values.providers) }),
    };
    const isChange = Object.keys(change).length > 0;
    const calls = connectAdmin(values, context);
    const ofTenant = async () => (isChange ? calls.updateTenant(tenantId, change) : calls.getTenant(tenantId));
    const answer = values.key === undefined ? await ofTenant() : await calls.updateKey(tenantId, values.key, change);
    if (values.json) printJson(context, answer);
    else {
      context.terminal.out.write(
        fields(context, [
          ['key_id' in answer ? 'key' : 'tenant', 'key_id' in answer ? answer.key_id : answer.tenant_id],
          ['models', answer.allowed_models?.join(', ') ?? ALL],
          ['providers', answer.allowed_providers?.join(', ') ?? ALL],
        ]),
      );
    }
    return exitCode('ok');
  },
});

function readNames(option: string, given: string): string[] | null {
  if (given === ALL) return null;
  const names = given.split(',').map((name) => name.trim());
  if (names.includes('')) throw usageError(`${option} has an empty name in "${given}".`, option);
  return names;
}
