import { CONNECTION_OPTIONS, defineCommand } from '../command.ts';
import { connectTenant } from '../connection.ts';
import { exitCode } from '../exit-codes.ts';
import { followJob } from '../follow-job.ts';
import { listenForInterrupts } from '../interrupts.ts';
import { describeJob } from '../job-summary.ts';
import { printJson } from '../output.ts';

export const statusCommand = defineCommand({
  name: 'status',
  summary: 'show a job, or follow it live',
  arguments: ['JOB'],
  options: { watch: { type: 'boolean', help: 'follow it to its end' }, ...CONNECTION_OPTIONS },
  examples: ['status job_01j7zb8k3te9aabfm0z0e2d3k4', 'status job_01j7zb8k3te9aabfm0z0e2d3k4 --watch'],
  async run({ values, positionals: [jobId = ''] }, context) {
    const calls = connectTenant(values, context);
    const asJson = values.json === true;
    if (values.watch === true) {
      const interrupts = listenForInterrupts(context.signals);
      try {
        return await followJob({ calls, jobId, interrupts, sink: null, asJson }, context);
      } finally {
        interrupts.stopListening();
      }
    }
    const job = await calls.getStatus(jobId);
    if (asJson) printJson(context, job);
    else context.terminal.out.write(describeJob(job, context));
    return exitCode('ok');
  },
});
