import type { DataDeletion } from '../../contracts/data-deletion.ts';
import { ADMIN_OPTIONS, type Context, defineCommand } from '../command.ts';
import { connectAdmin } from '../connection.ts';
import { usageError } from '../errors.ts';
import { exitCode } from '../exit-codes.ts';
import { type Column, fields, printJson, table, time } from '../output.ts';

const LEFT_COLUMNS: readonly Column<DataDeletion['left_at_providers'][number]>[] = [
  { title: 'JOB', cell: ({ job_id }) => job_id },
  { title: 'LEFT AT', cell: ({ provider }) => provider },
  { title: 'BATCHES', align: 'right', cell: ({ batches }) => batches },
  { title: 'EXPIRES', cell: ({ expires_at }) => time(expires_at) },
];

export const adminDeleteCustomerDataCommand = defineCommand({
  name: 'admin delete-customer-data',
  summary: 'delete all content of a customer, or show how far that is',
  arguments: ['TENANT', 'CUSTOMER'],
  options: {
    reason: { type: 'string', value: 'TEXT', help: 'why, for whoever looks later; begins a deletion' },
    show: { type: 'string', value: 'ID', help: 'the deletion to show' },
    ...ADMIN_OPTIONS,
  },
  details:
    'Nothing brings it back. Jobs that run are deleted after their end; those made later are not touched, so suspend the ' +
    'customer first. What is under a legal hold stays.',
  examples: [
    'admin delete-customer-data tenant_acme cust_123 --reason "Contract ended."',
    'admin delete-customer-data tenant_acme cust_123 --show del_01j7zb8k3te9aabfm0z0e2d3k4',
  ],
  async run({ values, positionals: [tenantId = '', customerId = ''] }, context) {
    const { reason, show } = values;
    if ((reason === undefined) === (show === undefined)) throw usageError('Give --reason or --show.', '--reason');
    const calls = connectAdmin(values, context);
    const deletion =
      show === undefined
        ? await calls.deleteCustomerData(tenantId, customerId, { reason })
        : await calls.getDataDeletion(tenantId, customerId, show);
    if (values.json) printJson(context, deletion);
    else print(context, deletion);
    return exitCode('ok');
  },
});

function print(context: Context, deletion: DataDeletion): void {
  const { deleted, waiting, left_at_providers: left } = deletion;
  const facts = fields(context, [
    ['deletion', deletion.deletion_id],
    ['state', deletion.state],
    [
      'deleted',
      `${deleted.jobs} jobs, ${deleted.drafts} drafts, ${deleted.documents} documents, ${deleted.artifacts} artifacts`,
    ],
    ['bodies', `${deleted.requests} requests, ${deleted.results} results`],
    ['at providers', `files of ${deleted.provider_batches} batches`],
    [
      'waits for',
      `${waiting.open_jobs} open jobs, ${waiting.held_jobs} held, ${waiting.jobs_being_removed} being removed; ` +
        `${waiting.documents} documents, ${waiting.held_documents} held`,
    ],
    ...deletion.kept.map(({ what, why }) => [`kept: ${what}`, why] as const),
  ]);
  context.terminal.out.write(left.length === 0 ? facts : `${facts}\n${table(context, LEFT_COLUMNS, left)}`);
}
