import type { Suspension } from '../../contracts/suspension.ts';
import { ADMIN_OPTIONS, defineCommand } from '../command.ts';
import { connectAdmin } from '../connection.ts';
import { usageError } from '../errors.ts';
import { exitCode } from '../exit-codes.ts';
import { type Column, printJson, table, time } from '../output.ts';

const COLUMNS: readonly Column<Suspension>[] = [
  { title: 'ID', cell: ({ suspension_id }) => suspension_id },
  { title: 'SCOPE', cell: ({ scope, scope_id }) => `${scope} ${scope_id}` },
  { title: 'JOB', cell: ({ job_id }) => job_id },
  { title: 'OVERAGE', align: 'right', cell: ({ overage }) => overage },
  { title: 'CURRENCY', cell: ({ currency }) => currency },
  { title: 'SINCE', cell: ({ created_at }) => time(created_at) },
  { title: 'LIFTED', cell: ({ lifted_at }) => time(lifted_at) },
];
const OPTIONS = {
  lift: { type: 'string', value: 'ID', help: 'the suspension to lift; needs --reason' },
  reason: { type: 'string', value: 'TEXT', help: 'why it is lifted, for whoever looks later' },
  lifted: { type: 'boolean', help: 'show those that were lifted too' },
  ...ADMIN_OPTIONS,
} as const;

export const adminSuspensionsCommand = defineCommand({
  name: 'admin suspensions',
  summary: 'show or lift what keeps a tenant from submitting after an overrun',
  arguments: ['TENANT'],
  options: OPTIONS,
  examples: [
    'admin suspensions tenant_acme',
    'admin suspensions tenant_acme --lift susp_01j7zb8k3te9aabfm0z0e2d3k4 --reason "limit raised"',
  ],
  async run({ values, positionals: [tenantId = ''] }, context) {
    const { lift, reason } = values;
    if ((lift === undefined) !== (reason === undefined)) throw usageError('--lift and --reason go together.', '--lift');
    const calls = connectAdmin(values, context);
    const suspensions =
      lift === undefined || reason === undefined
        ? (await calls.listSuspensions(tenantId, { lifted: values.lifted ? 'include' : undefined })).data
        : [await calls.liftSuspension(tenantId, lift, reason)];
    const { out, err } = context.terminal;
    if (values.json) for (const suspension of suspensions) printJson(context, suspension);
    else if (suspensions.length === 0) err.write(`Nothing keeps ${tenantId} from submitting.\n`);
    else out.write(table(context, COLUMNS, suspensions));
    return exitCode('ok');
  },
});
