import { defineCommand, OPERATOR_OPTIONS } from '../command.ts';
import { connectOperator } from '../connection.ts';
import { usageError } from '../errors.ts';
import { exitCode } from '../exit-codes.ts';
import { printJson } from '../output.ts';

const OPTIONS = {
  reason: { type: 'string', value: 'TEXT', help: 'why, as the ledger will say; needed' },
  amount: { type: 'string', value: 'AMOUNT', help: 'a part of the charge; else all of it' },
  ...OPERATOR_OPTIONS,
} as const;

export const refundCommand = defineCommand({
  name: 'refund',
  summary: 'give back what an item was charged (operator)',
  arguments: ['JOB', 'CUSTOM_ID'],
  options: OPTIONS,
  details: 'An item is refunded once, never above its charge. The same refund again changes nothing.',
  examples: [
    'refund job_01j7zb8k3te9aabfm0z0e2d3k4 row_000381 --reason "the answer was cut off"',
    'refund job_01j7zb8k3te9aabfm0z0e2d3k4 row_000381 --amount 0.0005 --reason goodwill',
  ],
  async run({ values, positionals: [jobId = '', customId = ''] }, context) {
    const { reason, amount } = values;
    if (reason === undefined) throw usageError('refund needs --reason.', '--reason');
    const wanted = { reason, ...(amount !== undefined && { amount }) };
    const refund = await connectOperator(values, context).refund(jobId, customId, wanted);
    if (values.json) printJson(context, refund);
    else {
      const { refunded, charged, currency } = refund;
      context.terminal.out.write(`${customId} of ${jobId}: ${refunded} of ${charged} ${currency} given back.\n`);
    }
    return exitCode('ok');
  },
});
