import type { PriceOverride } from '../../contracts/price-override.ts';
import { ADMIN_OPTIONS, defineCommand } from '../command.ts';
import { connectAdmin } from '../connection.ts';
import { exitCode } from '../exit-codes.ts';
import { readJsonFile } from '../json-file.ts';
import { oneOf } from '../option-values.ts';
import { type Column, printJson, table, time } from '../output.ts';
import { ACTIONS, LIST_OPTIONS, readAll, requireOperand, scopeOf } from '../override-actions.ts';

const COLUMNS: readonly Column<PriceOverride>[] = [
  { title: 'ID', cell: ({ override_id }) => override_id },
  { title: 'FOR', cell: scopeOf },
  { title: 'MODEL', cell: ({ provider, model }) => `${provider}/${model}` },
  { title: 'FROM', cell: ({ from }) => from },
  { title: 'BATCH IN', align: 'right', cell: ({ batch }) => batch?.input },
  { title: 'BATCH OUT', align: 'right', cell: ({ batch }) => batch?.output },
  { title: 'CURRENCY', cell: ({ currency }) => currency },
  { title: 'WITHDRAWN', cell: ({ withdrawn_at }) => time(withdrawn_at) },
  { title: 'REASON', cell: ({ reason }) => reason, maxWidth: 40 },
];

export const adminPricesCommand = defineCommand({
  name: 'admin prices',
  summary: 'list, set or withdraw prices beside the published ones',
  arguments: ['ACTION', '[FILE|ID]'],
  options: { ...LIST_OPTIONS, ...ADMIN_OPTIONS },
  details:
    'ACTION is list, add FILE or withdraw ID. FILE is JSON as POST /v1/admin/prices takes it; - is standard input. Rates ' +
    'are decimal strings for one million tokens. Jobs that were accepted keep their price.',
  examples: [
    'admin prices list',
    'admin prices add price.json',
    'admin prices withdraw price_01j7zb8k3te9aabfm0z0e2d3k4',
  ],
  async run({ values, positionals: [given = '', operand] }, context) {
    const action = oneOf('ACTION', given, ACTIONS);
    const operandName = { list: null, add: 'FILE', withdraw: 'ID' }[action];
    const named = requireOperand('admin prices', action, operandName, operand);
    const { out, err } = context.terminal;
    if (action === 'list') {
      const prices = await readAll(connectAdmin(values, context).listPrices, values);
      if (values.json) for (const price of prices) printJson(context, price);
      else if (prices.length === 0) err.write('No price is set beside the published ones.\n');
      else out.write(table(context, COLUMNS, prices));
      return exitCode('ok');
    }
    const content = action === 'add' ? await readJsonFile(named, context) : undefined;
    const calls = connectAdmin(values, context);
    const price = action === 'add' ? await calls.addPrice(content) : await calls.withdrawPrice(named);
    if (values.json) printJson(context, price);
    else out.write(table(context, COLUMNS, [price]));
    return exitCode('ok');
  },
});
