import { CONNECTION_OPTIONS, defineCommand } from '../command.ts';
import { connectTenant } from '../connection.ts';
import { exitCode } from '../exit-codes.ts';
import { printJson } from '../output.ts';

export const cancelCommand = defineCommand({
  name: 'cancel',
  summary: 'ask for a job to be cancelled',
  arguments: ['JOB'],
  options: { reason: { type: 'string', value: 'TEXT', help: 'kept with the job' }, ...CONNECTION_OPTIONS },
  details: 'A request, not a promise: what the provider has finished by then is kept and charged.',
  examples: ['cancel job_01j7zb8k3te9aabfm0z0e2d3k4 --reason "wrong prompt"'],
  async run({ values, positionals: [jobId = ''] }, context) {
    const job = await connectTenant(values, context).cancel(jobId, values.reason);
    if (values.json) printJson(context, job);
    else if (job.status === 'cancel_requested') {
      context.terminal.out.write(
        `${jobId} is asked to stop; follow it with "${context.program} status ${jobId} --watch".\n`,
      );
    } else context.terminal.out.write(`${jobId} is ${job.status}.\n`);
    return exitCode('ok');
  },
});
