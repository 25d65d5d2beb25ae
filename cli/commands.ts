import type { Command } from './command.ts';
import { adjustmentsCommand } from './commands/adjustments.ts';
import { adminCommand } from './commands/admin.ts';
import { analyticsCommand } from './commands/analytics.ts';
import { budgetsCommand } from './commands/budgets.ts';
import { cancelCommand } from './commands/cancel.ts';
import { demoCommand } from './commands/demo.ts';
import { extractCommand } from './commands/extract.ts';
import { itemsCommand } from './commands/items.ts';
import { jobsCommand } from './commands/jobs.ts';
import { ledgerCommand } from './commands/ledger.ts';
import { modelsCommand } from './commands/models.ts';
import { operatorCommand } from './commands/operator.ts';
import { pollNowCommand } from './commands/poll-now.ts';
import { quoteCommand } from './commands/quote.ts';
import { refundCommand } from './commands/refund.ts';
import { resultsCommand } from './commands/results.ts';
import { retryCommand } from './commands/retry.ts';
import { runCommand } from './commands/run.ts';
import { schedulesCommand } from './commands/schedules.ts';
import { statusCommand } from './commands/status.ts';
import { storageCommand } from './commands/storage.ts';
import { submitCommand } from './commands/submit.ts';
import { taskCommand } from './commands/task.ts';
import { upCommand } from './commands/up.ts';
import { usageCommand } from './commands/usage.ts';
import { validateCommand } from './commands/validate.ts';
import { webhooksCommand } from './commands/webhooks.ts';

/** Every command, in the order of the help text. */
export const COMMANDS: readonly Command[] = [
  upCommand,
  demoCommand,
  runCommand,
  taskCommand,
  extractCommand,
  jobsCommand,
  statusCommand,
  resultsCommand,
  itemsCommand,
  cancelCommand,
  retryCommand,
  validateCommand,
  submitCommand,
  quoteCommand,
  storageCommand,
  usageCommand,
  analyticsCommand,
  ledgerCommand,
  budgetsCommand,
  schedulesCommand,
  webhooksCommand,
  modelsCommand,
  operatorCommand,
  pollNowCommand,
  refundCommand,
  adjustmentsCommand,
  adminCommand,
];
