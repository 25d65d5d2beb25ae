import { defineCommand } from '../command.ts';
import { usageError } from '../errors.ts';
import { adminAliasesCommand } from './admin-aliases.ts';
import { adminAllowCommand } from './admin-allow.ts';
import { adminBudgetsCommand } from './admin-budgets.ts';
import { adminCapabilitiesCommand } from './admin-capabilities.ts';
import { adminOverageCommand } from './admin-overage.ts';
import { adminPricesCommand } from './admin-prices.ts';
import { adminSuspensionsCommand } from './admin-suspensions.ts';

const TOPICS = [
  adminAliasesCommand,
  adminAllowCommand,
  adminBudgetsCommand,
  adminOverageCommand,
  adminSuspensionsCommand,
  adminPricesCommand,
  adminCapabilitiesCommand,
];

export const adminCommand = defineCommand({
  name: 'admin',
  summary: 'set aliases, allow-lists, budgets, overage, prices and capabilities (gateway admin)',
  arguments: [],
  options: {},
  topics: TOPICS,
  examples: TOPICS.flatMap(({ examples }) => examples.slice(0, 1)),
  async run() {
    throw usageError(`admin needs a topic: ${TOPICS.map(({ name }) => name).join(', ')}.`);
  },
});
