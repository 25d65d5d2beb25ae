import type { ApiKey, NewApiKey } from '../../contracts/api-key.ts';
import type { AdminCalls } from '../admin-calls.ts';
import { ADMIN_OPTIONS, defineCommand, type OptionValues } from '../command.ts';
import { connectAdmin } from '../connection.ts';
import { exitCode } from '../exit-codes.ts';
import { requireOption } from '../identity-actions.ts';
import { oneOf, readCount, readTime } from '../option-values.ts';
import { type Column, printJson, table, time } from '../output.ts';
import { readAll, requireOperand } from '../override-actions.ts';

const ACTIONS = ['list', 'create', 'show', 'rotate', 'revoke'] as const;
const COLUMNS: readonly Column<ApiKey>[] = [
  { title: 'ID', cell: ({ key_id }) => key_id },
  { title: 'ROLE', cell: ({ role }) => role },
  { title: 'NAME', cell: ({ name }) => name, maxWidth: 30 },
  { title: 'OF', cell: ({ project_id, customer_id }) => [project_id, customer_id].filter(Boolean).join(' ') || null },
  { title: 'PREFIX', cell: ({ prefix }) => prefix },
  { title: 'SCOPES', cell: ({ scopes }) => (scopes.length === 0 ? 'all' : scopes.join(',')), maxWidth: 40 },
  { title: 'LAST USED', cell: ({ last_used_at }) => time(last_used_at) },
  { title: 'ENDS', cell: ({ expires_at, revoked_at }) => time(revoked_at ?? expires_at) },
];
const OPTIONS = {
  tenant: { type: 'string', value: 'ID', help: 'whose keys; without it those of the gateway itself' },
  role: { type: 'string', value: 'ROLE', help: 'create: tenant_admin, project or customer; operator or gateway_admin' },
  name: { type: 'string', value: 'TEXT', help: 'create: what it is for' },
  project: { type: 'string', value: 'ID', help: 'create: the project it is bound to' },
  customer: { type: 'string', value: 'ID', help: 'create: the customer it is bound to' },
  scopes: {
    type: 'string',
    value: 'NAMES',
    help: 'create: what it is limited to, parted by commas; else all of its role',
  },
  expires: { type: 'string', value: 'TIME', help: 'create: when it ends by itself' },
  overlap: {
    type: 'string',
    value: 'SECONDS',
    help: 'rotate: how long the old key goes on (86400); 0 ends it at once',
  },
  ...ADMIN_OPTIONS,
} as const;

export const adminKeysCommand = defineCommand({
  name: 'admin keys',
  summary: 'list, create, show, rotate or revoke keys',
  arguments: ['ACTION', '[ID]'],
  options: OPTIONS,
  details: 'ACTION is list, create, show ID, rotate ID or revoke ID. A key is printed once, when it is made.',
  examples: [
    'admin keys create --tenant tenant_acme --role project --project web --name imports --scopes jobs:read,jobs:write',
    'admin keys list --tenant tenant_acme',
    'admin keys rotate key_01j7zb8k3te9aabfm0z0e2d3k4 --tenant tenant_acme --overlap 3600',
    'admin keys create --role operator --name "on call"',
  ],
  async run({ values, positionals: [given = '', operand] }, context) {
    const action = oneOf('ACTION', given, ACTIONS);
    const takesId = action !== 'list' && action !== 'create';
    const id = requireOperand('admin keys', action, takesId ? 'ID' : null, operand);
    const body = action === 'create' ? newKey(values) : rotation(values);
    const keys = await act(connectAdmin(values, context), action, { tenantId: values.tenant, id, body });
    const { out, err } = context.terminal;
    if (values.json) for (const key of keys) printJson(context, key);
    else out.write(table(context, COLUMNS, keys));
    for (const made of keys) if (!values.json && 'key' in made) out.write(`\n${made.key ?? ''}\n`);
    const lost = keys.some((made) => 'key' in made && made.key === null);
    if (lost) err.write('The key was made, and its answer was lost on the way. Rotate it with --overlap 0.\n');
    return exitCode('ok');
  },
});

async function act(
  calls: AdminCalls,
  action: (typeof ACTIONS)[number],
  { tenantId, id, body }: { readonly tenantId: string | undefined; readonly id: string; readonly body: object },
): Promise<readonly (ApiKey | NewApiKey)[]> {
  switch (action) {
    case 'list':
      return readAll((query) => calls.listKeys(tenantId, query), {});
    case 'create':
      return [await calls.createKey(tenantId, { ...body })];
    case 'rotate':
      return [await calls.rotateKey(tenantId, id, { ...body })];
    case 'revoke':
      return [await calls.revokeKey(tenantId, id)];
    case 'show':
      return [await calls.getKey(tenantId, id)];
  }
}

function newKey(values: OptionValues<typeof OPTIONS>): object {
  const { project: project_id, customer: customer_id, scopes } = values;
  return {
    role: requireOption(values, 'role'),
    name: requireOption(values, 'name'),
    ...(project_id !== undefined && { project_id }),
    ...(customer_id !== undefined && { customer_id }),
    ...(scopes !== undefined && { scopes: scopes.split(',').map((scope) => scope.trim()) }),
    ...readTime('expires_at', '--expires', values.expires),
  };
}

function rotation({ overlap }: OptionValues<typeof OPTIONS>): object {
  return overlap === undefined ? {} : { overlap_seconds: readCount('--overlap', overlap, 0) };
}
