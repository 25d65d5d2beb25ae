import { type CapabilityOverride, NewCapability } from '../../contracts/capability-override.ts';
import { FeatureName } from '../../contracts/feature.ts';
import { ADMIN_OPTIONS, defineCommand, type OptionValues } from '../command.ts';
import { connectAdmin } from '../connection.ts';
import { usageError } from '../errors.ts';
import { exitCode } from '../exit-codes.ts';
import { oneOf } from '../option-values.ts';
import { type Column, printJson, table, time } from '../output.ts';
import { ACTIONS, LIST_OPTIONS, readAll, requireOperand, scopeOf } from '../override-actions.ts';

const ENDPOINTS = NewCapability.shape.endpoint.options;

const COLUMNS: readonly Column<CapabilityOverride>[] = [
  { title: 'ID', cell: ({ override_id }) => override_id },
  { title: 'FOR', cell: scopeOf },
  { title: 'MODELS', cell: ({ provider, model }) => `${provider}/${model}` },
  { title: 'ENDPOINT', cell: ({ endpoint }) => endpoint },
  { title: 'WHAT', cell: ({ feature }) => feature ?? 'batch mode' },
  { title: 'ALLOWED', cell: ({ is_allowed }) => (is_allowed ? 'yes' : 'no') },
  { title: 'WITHDRAWN', cell: ({ withdrawn_at }) => time(withdrawn_at) },
  { title: 'REASON', cell: ({ reason }) => reason, maxWidth: 40 },
];

const OPTIONS = {
  ...LIST_OPTIONS,
  endpoint: { type: 'string', value: 'NAME', help: `add: ${ENDPOINTS.join(', ')}` },
  model: { type: 'string', value: 'PATTERN', help: 'add: a model id, or with * at its end all that begin so' },
  feature: {
    type: 'string',
    value: 'NAME',
    help: 'add: what a request asks for, such as tools; else batch mode itself',
  },
  allow: { type: 'boolean', help: 'add: it works' },
  deny: { type: 'boolean', help: 'add: it does not work; callers are told the reason' },
  reason: { type: 'string', value: 'TEXT', help: 'add: why' },
  ...ADMIN_OPTIONS,
} as const;

export const adminCapabilitiesCommand = defineCommand({
  name: 'admin capabilities',
  summary: 'list, set or withdraw what models may do in batch mode',
  arguments: ['ACTION', '[ID]'],
  options: OPTIONS,
  details: 'ACTION is list, add (with options) or withdraw ID. It holds from the next verdict on.',
  examples: [
    'admin capabilities list',
    'admin capabilities add --provider openai --endpoint chat.completions --model "gpt-5*" --feature tools --deny --reason "Under repair."',
    'admin capabilities withdraw cap_01j7zb8k3te9aabfm0z0e2d3k4',
  ],
  async run({ values, positionals: [given = '', operand] }, context) {
    const action = oneOf('ACTION', given, ACTIONS);
    const overrideId = requireOperand('admin capabilities', action, action === 'withdraw' ? 'ID' : null, operand);
    const { out, err } = context.terminal;
    if (action === 'list') {
      const capabilities = await readAll(connectAdmin(values, context).listCapabilities, values);
      if (values.json) for (const capability of capabilities) printJson(context, capability);
      else if (capabilities.length === 0) err.write('Nothing is said beside the gateway’s own matrix.\n');
      else out.write(table(context, COLUMNS, capabilities));
      return exitCode('ok');
    }
    const wanted = action === 'add' ? readCapability(values) : null;
    const calls = connectAdmin(values, context);
    const capability = wanted === null ? await calls.withdrawCapability(overrideId) : await calls.addCapability(wanted);
    if (values.json) printJson(context, capability);
    else out.write(table(context, COLUMNS, [capability]));
    return exitCode('ok');
  },
});

function readCapability(values: OptionValues<typeof OPTIONS>): NewCapability {
  if (values.allow === values.deny) throw usageError('admin capabilities add needs --allow or --deny.', '--allow');
  return {
    ...(values.tenant !== undefined && { tenant_id: values.tenant }),
    provider: requireOption('provider', values.provider),
    endpoint: oneOf('--endpoint', requireOption('endpoint', values.endpoint), ENDPOINTS),
    model: requireOption('model', values.model),
    ...(values.feature !== undefined && { feature: oneOf('--feature', values.feature, FeatureName.options) }),
    is_allowed: values.allow === true,
    reason: requireOption('reason', values.reason),
  };
}

function requireOption(name: string, given: string | undefined): string {
  if (given === undefined) throw usageError(`admin capabilities add needs --${name}.`, `--${name}`);
  return given;
}
