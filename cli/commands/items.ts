import { CONNECTION_OPTIONS, defineCommand } from '../command.ts';
import { connectTenant } from '../connection.ts';
import { exitCode } from '../exit-codes.ts';
import { count, fields, printJson, time } from '../output.ts';
import { completionText } from '../results/result-line.ts';

export const itemsCommand = defineCommand({
  name: 'items',
  summary: 'show one item of a job: state, answer, usage, cost',
  arguments: ['JOB', 'CUSTOM_ID'],
  options: CONNECTION_OPTIONS,
  examples: ['items job_01j7zb8k3te9aabfm0z0e2d3k4 row_000381'],
  async run({ values, positionals: [jobId = '', customId = ''] }, context) {
    const item = await connectTenant(values, context).getItem(jobId, customId);
    if (values.json) {
      printJson(context, item);
      return exitCode('ok');
    }
    const { usage, error } = item;
    context.terminal.out.write(
      fields(context, [
        ['item', item.custom_id],
        ['id', item.item_id],
        ['status', item.status],
        ['error', error === null ? null : `${error.class}, ${error.code}: ${error.message}`],
        ['model', item.model],
        ['tokens', usage === null ? null : `${count(usage.input_tokens)} in, ${count(usage.output_tokens)} out`],
        ['cost', item.cost === null ? null : `${item.cost} ${item.currency}`],
        ['attempts', item.attempts],
        ['retry of', item.retry_of_item_id],
        ['retried by', item.retried_by_item_id],
        ['settled', time(item.settled_at)],
        ['text', completionText(item.result)],
        ['result', completionText(item.result) === null && item.result !== null ? JSON.stringify(item.result) : null],
      ]),
    );
    return exitCode('ok');
  },
});
