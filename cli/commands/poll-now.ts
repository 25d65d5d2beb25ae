import { defineCommand, OPERATOR_OPTIONS } from '../command.ts';
import { connectOperator } from '../connection.ts';
import { exitCode } from '../exit-codes.ts';
import { printJson } from '../output.ts';

export const pollNowCommand = defineCommand({
  name: 'poll-now',
  summary: 'have a job ask its provider now (operator)',
  arguments: ['JOB'],
  options: OPERATOR_OPTIONS,
  examples: ['poll-now job_01j7zb8k3te9aabfm0z0e2d3k4'],
  async run({ values, positionals: [jobId = ''] }, context) {
    const answer = await connectOperator(values, context).pollNow(jobId);
    if (values.json) printJson(context, answer);
    else {
      const text = answer.signalled ? `${jobId} asks its provider now.` : `${jobId} has nothing to ask a provider for.`;
      context.terminal.out.write(`${text}\n`);
    }
    return exitCode('ok');
  },
});
