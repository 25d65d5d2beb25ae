import type { Model, ModelList } from '../../contracts/model.ts';
import { CONNECTION_OPTIONS, defineCommand } from '../command.ts';
import { connectTenant } from '../connection.ts';
import { exitCode } from '../exit-codes.ts';
import { type Column, printJson, table } from '../output.ts';

const ALIASES: readonly Column<ModelList['aliases'][number]>[] = [
  { title: 'ALIAS', cell: ({ alias }) => alias },
  {
    title: 'STANDS FOR',
    cell: ({ targets }) => targets.map(({ provider, model }) => `${provider}/${model}`).join(', '),
  },
];
const MODELS: readonly Column<Model>[] = [
  { title: 'MODEL', cell: ({ model }) => model },
  { title: 'INPUT', align: 'right', cell: ({ batch_price_per_million: price }) => price.input },
  { title: 'CACHED', align: 'right', cell: ({ batch_price_per_million: price }) => price.cached_input },
  { title: 'OUTPUT', align: 'right', cell: ({ batch_price_per_million: price }) => price.output },
  { title: 'CURRENCY', cell: ({ currency }) => currency },
  { title: 'ENDPOINTS', cell: ({ endpoints }) => endpoints.join(', ') },
];

export const modelsCommand = defineCommand({
  name: 'models',
  summary: 'list models with their batch prices, and aliases',
  arguments: [],
  options: CONNECTION_OPTIONS,
  details: 'Prices are for one million tokens in batch mode.',
  examples: ['models'],
  async run({ values }, context) {
    const models = await connectTenant(values, context).listModels();
    if (values.json) printJson(context, models);
    else {
      const { out } = context.terminal;
      out.write(`${table(context, ALIASES, models.aliases)}\n${table(context, MODELS, models.data)}`);
    }
    return exitCode('ok');
  },
});
