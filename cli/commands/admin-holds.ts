import type { LegalHold } from '../../contracts/legal-hold.ts';
import { ADMIN_OPTIONS, type Context, defineCommand } from '../command.ts';
import { connectAdmin } from '../connection.ts';
import { exitCode } from '../exit-codes.ts';
import { requireOption } from '../identity-actions.ts';
import { type Column, printJson, table, time } from '../output.ts';
import { readAll } from '../override-actions.ts';

const COLUMNS: readonly Column<LegalHold>[] = [
  { title: 'ID', cell: ({ hold_id }) => hold_id },
  { title: 'HOLDS', cell: ({ job_id, customer_id, tenant_id }) => job_id ?? customer_id ?? tenant_id },
  { title: 'REASON', cell: ({ reason }) => reason, maxWidth: 40 },
  { title: 'SINCE', cell: ({ set_at }) => time(set_at) },
  { title: 'LIFTED', cell: ({ lifted_at }) => time(lifted_at) },
];

export const adminHoldCommand = defineCommand({
  name: 'admin hold',
  summary: 'keep content from being deleted: of a job, a customer or a tenant',
  arguments: ['TENANT'],
  options: {
    job: { type: 'string', value: 'ID', help: 'of this job alone' },
    customer: { type: 'string', value: 'ID', help: 'of all jobs of this customer' },
    reason: { type: 'string', value: 'TEXT', help: 'why, for whoever looks later; needed' },
    ...ADMIN_OPTIONS,
  },
  examples: ['admin hold tenant_acme --customer cust_123 --reason "Case 2026-114"'],
  async run({ values, positionals: [tenantId = ''] }, context) {
    const wanted = { reason: requireOption(values, 'reason'), job_id: values.job, customer_id: values.customer };
    return show(context, values.json === true, [await connectAdmin(values, context).setHold(tenantId, wanted)]);
  },
});

export const adminReleaseCommand = defineCommand({
  name: 'admin release',
  summary: 'lift a legal hold; what is due by then is deleted',
  arguments: ['TENANT', 'HOLD'],
  options: ADMIN_OPTIONS,
  examples: ['admin release tenant_acme hold_01j7zb8k3te9aabfm0z0e2d3k4'],
  async run({ values, positionals: [tenantId = '', holdId = ''] }, context) {
    return show(context, values.json === true, [await connectAdmin(values, context).liftHold(tenantId, holdId)]);
  },
});

export const adminHoldsCommand = defineCommand({
  name: 'admin holds',
  summary: 'show the legal holds of a tenant',
  arguments: ['TENANT'],
  options: { lifted: { type: 'boolean', help: 'those that were lifted too' }, ...ADMIN_OPTIONS },
  examples: ['admin holds tenant_acme --lifted'],
  async run({ values, positionals: [tenantId = ''] }, context) {
    const calls = connectAdmin(values, context);
    const lifted = values.lifted ? 'include' : undefined;
    const read = ({ cursor, limit }: Parameters<typeof calls.listHolds>[1]) =>
      calls.listHolds(tenantId, { cursor, limit, lifted });
    return show(context, values.json === true, await readAll(read, {}));
  },
});

function show(context: Context, isJson: boolean, holds: readonly LegalHold[]): number {
  if (isJson) for (const hold of holds) printJson(context, hold);
  else if (holds.length === 0) context.terminal.err.write('Nothing is held.\n');
  else context.terminal.out.write(table(context, COLUMNS, holds));
  return exitCode('ok');
}
