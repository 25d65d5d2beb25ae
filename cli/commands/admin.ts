import { defineCommand } from '../command.ts';
import { usageError } from '../errors.ts';
import { adminAliasesCommand } from './admin-aliases.ts';
import { adminAllowCommand } from './admin-allow.ts';
import { adminAuditCommand } from './admin-audit.ts';
import { adminBudgetsCommand } from './admin-budgets.ts';
import { adminCapabilitiesCommand } from './admin-capabilities.ts';
import { adminCredentialsCommand } from './admin-credentials.ts';
import { adminCustomersCommand } from './admin-customers.ts';
import { adminDeleteCustomerDataCommand } from './admin-delete-customer-data.ts';
import { adminHoldCommand, adminHoldsCommand, adminReleaseCommand } from './admin-holds.ts';
import { adminKeysCommand } from './admin-keys.ts';
import { adminOverageCommand } from './admin-overage.ts';
import { adminPolicyCommand } from './admin-policy.ts';
import { adminPricesCommand } from './admin-prices.ts';
import { adminProjectsCommand } from './admin-projects.ts';
import { adminSuspensionsCommand } from './admin-suspensions.ts';
import { adminTenantsCommand } from './admin-tenants.ts';

const TOPICS = [
  adminTenantsCommand,
  adminProjectsCommand,
  adminCustomersCommand,
  adminKeysCommand,
  adminPolicyCommand,
  adminAliasesCommand,
  adminAllowCommand,
  adminBudgetsCommand,
  adminOverageCommand,
  adminSuspensionsCommand,
  adminPricesCommand,
  adminCapabilitiesCommand,
  adminCredentialsCommand,
  adminHoldCommand,
  adminReleaseCommand,
  adminHoldsCommand,
  adminDeleteCustomerDataCommand,
  adminAuditCommand,
];

export const adminCommand = defineCommand({
  name: 'admin',
  summary: 'tenants, keys, policies, budgets, prices and what else a gateway admin sets',
  arguments: [],
  options: {},
  topics: TOPICS,
  examples: TOPICS.flatMap(({ examples }) => examples.slice(0, 1)),
  async run() {
    throw usageError(`admin needs a topic: ${TOPICS.map(({ name }) => name).join(', ')}.`);
  },
});
