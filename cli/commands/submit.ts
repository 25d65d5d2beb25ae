import { CONNECTION_OPTIONS, defineCommand } from '../command.ts';
import { connectTenant } from '../connection.ts';
import { exitCode } from '../exit-codes.ts';
import { printJson } from '../output.ts';

export const submitCommand = defineCommand({
  name: 'submit',
  summary: 'submit a draft',
  arguments: ['JOB'],
  options: CONNECTION_OPTIONS,
  examples: ['submit job_01j7zb8k3te9aabfm0z0e2d3k4'],
  async run({ values, positionals: [jobId = ''] }, context) {
    const job = await connectTenant(values, context).submit(jobId);
    if (values.json) printJson(context, job);
    else context.terminal.out.write(`${jobId} is ${job.status}.\n`);
    return exitCode('ok');
  },
});
