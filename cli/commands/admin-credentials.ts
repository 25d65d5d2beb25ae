import type { ProviderCredential } from '../../contracts/provider-credential.ts';
import type { ResealReport } from '../../contracts/reseal.ts';
import { ADMIN_OPTIONS, type Context, defineCommand, type OptionValues } from '../command.ts';
import { connectCredentials } from '../connection.ts';
import type { CredentialCalls } from '../credential-calls.ts';
import { usageError } from '../errors.ts';
import { exitCode } from '../exit-codes.ts';
import { oneOf } from '../option-values.ts';
import { type Column, printJson, table, time } from '../output.ts';
import { readAll, requireOperand } from '../override-actions.ts';

const ACTIONS = ['list', 'add', 'replace', 'revoke', 'reseal'] as const;
const KEY_VARIABLE = 'BATCHGATE_PROVIDER_KEY';
const MAX_KEY_BYTES = 64 * 1024;

const COLUMNS: readonly Column<ProviderCredential>[] = [
  { title: 'ID', cell: ({ credential_id }) => credential_id },
  { title: 'PROVIDER', cell: ({ provider }) => provider },
  { title: 'FOR', cell: ownerOf },
  { title: 'KEY', cell: ({ key_hint }) => key_hint },
  { title: 'CREATED', cell: ({ created_at }) => time(created_at) },
  { title: 'REPLACED', cell: ({ replaced_at }) => time(replaced_at) },
  { title: 'LAST USED', cell: ({ last_used_at }) => time(last_used_at) },
  { title: 'REVOKED', cell: ({ revoked_at }) => time(revoked_at) },
  { title: 'NAME', cell: ({ name }) => name, maxWidth: 40 },
];

const KEY_COLUMNS: readonly Column<ResealReport['sealed'][number]>[] = [
  { title: 'KEY', cell: ({ key_id }) => key_id },
  { title: 'SEALS', align: 'right', cell: ({ values }) => String(values) },
];

const OPTIONS = {
  tenant: { type: 'string', value: 'ID', help: 'whose it is; else the gateway’s own' },
  project: { type: 'string', value: 'ID', help: 'add: the only project of the tenant that it is for' },
  provider: { type: 'string', value: 'NAME', help: 'add: the provider' },
  name: { type: 'string', value: 'TEXT', help: 'add: what people call it' },
  ...ADMIN_OPTIONS,
} as const;

export const adminCredentialsCommand = defineCommand({
  name: 'admin credentials',
  summary: 'list, add, replace or revoke keys at providers, or seal them anew',
  arguments: ['ACTION', '[ID]'],
  options: OPTIONS,
  details:
    'ACTION is list, add (with options), replace ID, revoke ID or reseal. The provider’s key of add and replace is read ' +
    `from ${KEY_VARIABLE}, else from standard input, and never from an argument. reseal seals all stored secrets under the ` +
    'current key of BATCHGATE_ENCRYPTION_KEYS.',
  examples: [
    'admin credentials list --tenant tenant_acme',
    'admin credentials add --tenant tenant_acme --provider openai --name production < key.txt',
    'admin credentials replace cred_01j7zb8k3te9aabfm0z0e2d3k4 --tenant tenant_acme < key.txt',
    'admin credentials revoke cred_01j7zb8k3te9aabfm0z0e2d3k4 --tenant tenant_acme',
    'admin credentials reseal',
  ],
  async run({ values, positionals: [given = '', operand] }, context) {
    const action = oneOf('ACTION', given, ACTIONS);
    const needsId = action === 'replace' || action === 'revoke';
    const id = requireOperand('admin credentials', action, needsId ? 'ID' : null, operand);
    const { out, err } = context.terminal;
    if (action === 'reseal') {
      const report = await resealAll(connectCredentials(values, context));
      if (values.json) printJson(context, report);
      else out.write(table(context, KEY_COLUMNS, report.sealed));
      if (report.failed > 0) err.write(`warning: ${report.failed} values cannot be opened: their key is gone.\n`);
      return exitCode(report.failed > 0 ? 'unsuccessful' : 'ok');
    }
    if (action === 'list') {
      const credentials = await readAll(connectCredentials(values, context).list, {});
      if (values.json) for (const credential of credentials) printJson(context, credential);
      else if (credentials.length === 0) err.write('No credential is stored.\n');
      else out.write(table(context, COLUMNS, credentials));
      return exitCode('ok');
    }
    const credential = await change(action, id, values, context);
    if (values.json) printJson(context, credential);
    else out.write(table(context, COLUMNS, [credential]));
    return exitCode('ok');
  },
});

async function change(
  action: 'add' | 'replace' | 'revoke',
  id: string,
  values: OptionValues<typeof OPTIONS>,
  context: Context,
): Promise<ProviderCredential> {
  if (action === 'revoke') return connectCredentials(values, context).revoke(id);
  if (action === 'replace') {
    const apiKey = await readKey(context);
    return connectCredentials(values, context).replace(id, apiKey);
  }
  const { tenant, project, provider, name } = values;
  if (provider === undefined) throw usageError('admin credentials add needs --provider.', '--provider');
  if (name === undefined) throw usageError('admin credentials add needs --name.', '--name');
  if (project !== undefined && tenant === undefined) throw usageError('--project needs --tenant.', '--tenant');
  const of = { provider, name, ...(project !== undefined && { project_id: project }) };
  const apiKey = await readKey(context);
  return connectCredentials(values, context).add({ ...of, api_key: apiKey });
}

/** Without the line end that editors and shells leave. */
async function readKey({ environment, standardInput }: Context): Promise<string> {
  const given = environment[KEY_VARIABLE];
  if (given !== undefined && given !== '') return given;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of standardInput) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > MAX_KEY_BYTES) throw usageError('Standard input is too long for a key.');
  }
  const key = Buffer.concat(chunks).toString().trim();
  if (key === '') throw usageError(`No key was given: set ${KEY_VARIABLE}, or send it to standard input.`);
  return key;
}

/** Each call seals some; the last one finds nothing more that it can seal. */
async function resealAll(calls: CredentialCalls): Promise<ResealReport> {
  for (;;) {
    const report = await calls.reseal();
    if (report.resealed === 0) return report;
  }
}

function ownerOf({ tenant_id, project_id }: ProviderCredential): string {
  if (tenant_id === null) return 'the gateway';
  return project_id === null ? tenant_id : `${tenant_id} ${project_id}`;
}
