import type { InvoiceReport } from '../../contracts/adjustment.ts';
import { type Context, defineCommand, OPERATOR_OPTIONS } from '../command.ts';
import { connectOperator } from '../connection.ts';
import { usageError } from '../errors.ts';
import { exitCode } from '../exit-codes.ts';
import { readTextFile } from '../json-file.ts';
import { type Column, plural, printJson, table } from '../output.ts';

const BATCHES: readonly Column<InvoiceReport['batches'][number]>[] = [
  { title: 'PROVIDER', cell: ({ provider }) => provider },
  { title: 'BATCH', cell: ({ provider_batch_id }) => provider_batch_id, maxWidth: 60 },
  { title: 'JOB', cell: ({ job_id }) => job_id },
  { title: 'BILLED', align: 'right', cell: ({ billed }) => billed },
  { title: 'CHARGED', align: 'right', cell: ({ charged }) => charged },
  { title: 'DIFFERENCE', align: 'right', cell: ({ difference }) => difference },
  { title: 'CURRENCY', cell: ({ currency }) => currency },
  { title: 'STATUS', cell: ({ status }) => status },
];
const UNKNOWN: readonly Column<InvoiceReport['unknown'][number]>[] = [
  { title: 'PROVIDER', cell: ({ provider }) => provider },
  { title: 'UNKNOWN BATCH', cell: ({ provider_batch_id }) => provider_batch_id, maxWidth: 60 },
  { title: 'BILLED', align: 'right', cell: ({ billed }) => billed },
  { title: 'CURRENCY', cell: ({ currency }) => currency },
];
const OPTIONS = {
  invoice: { type: 'string', value: 'REF', help: "the provider's reference; needed" },
  'charge-tenant': { type: 'boolean', help: 'charge the differences to the tenants; else the gateway bears them' },
  confirm: { type: 'boolean', help: 'post the differences; without it they are only shown' },
  ...OPERATOR_OPTIONS,
} as const;

export const adjustmentsCommand = defineCommand({
  name: 'adjustments',
  summary: "compare a provider's invoice with the ledger, and post what differs (operator)",
  arguments: ['ACTION', 'FILE'],
  options: OPTIONS,
  details:
    'ACTION is import. FILE is CSV with the columns provider, provider_batch_id, billed_amount and currency; - is standard ' +
    'input. A batch is adjusted once for an invoice: a second import changes nothing.',
  examples: [
    'adjustments import invoice.csv --invoice INV-2026-11',
    'adjustments import invoice.csv --invoice INV-2026-11 --confirm',
  ],
  async run({ values, positionals: [action = '', file = ''] }, context) {
    if (action !== 'import') throw usageError('adjustments knows one action: import.', 'ACTION');
    if (values.invoice === undefined) throw usageError('adjustments import needs --invoice.', '--invoice');
    const csv = await readTextFile(file, context);
    const query = { invoice: values.invoice, charge_tenant: values['charge-tenant'] ? 'true' : undefined };
    const calls = connectOperator(values, context);
    const report = await (values.confirm ? calls.importAdjustments(csv, query) : calls.previewAdjustments(csv, query));
    if (values.json) printJson(context, report);
    else show(report, values.confirm === true, context);
    return exitCode('ok');
  },
});

function show({ batches, unknown, newly_posted: posted, account }: InvoiceReport, isImport: boolean, context: Context) {
  const { out, err } = context.terminal;
  if (batches.length > 0) out.write(table(context, BATCHES, batches));
  if (unknown.length > 0) out.write(table(context, UNKNOWN, unknown));
  const whose = account === 'tenant' ? "the tenants' charges" : "the gateway's own account";
  const differing = batches.filter(({ status }) => status === 'differs').length;
  err.write(
    isImport
      ? `${plural(posted, 'adjustment')} posted to ${whose}.\n`
      : `${plural(differing, 'adjustment')} to ${whose} would be posted; --confirm posts.\n`,
  );
}
