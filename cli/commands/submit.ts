import { CONNECTION_OPTIONS, defineCommand } from '../command.ts';
import { connectTenant } from '../connection.ts';
import { exitCode } from '../exit-codes.ts';
import { followJob } from '../follow-job.ts';
import { listenForInterrupts } from '../interrupts.ts';
import { readSample } from '../option-values.ts';
import { printJson } from '../output.ts';

const OPTIONS = {
  sample: {
    type: 'string',
    value: 'N',
    help: 'run N of its items as a job of their own, and follow that; the draft stays a draft',
  },
  watch: { type: 'boolean', help: 'of a sample: follow it (default); --no-watch returns once it is submitted' },
  ...CONNECTION_OPTIONS,
} as const;

export const submitCommand = defineCommand({
  name: 'submit',
  summary: 'submit a draft, or a sample of it',
  arguments: ['JOB'],
  options: OPTIONS,
  examples: ['submit job_01j7zb8k3te9aabfm0z0e2d3k4', 'submit job_01j7zb8k3te9aabfm0z0e2d3k4 --sample 20'],
  async run({ values, positionals: [draftId = ''] }, context) {
    const sample = readSample(values.sample);
    const calls = connectTenant(values, context);
    const job = await calls.submit(draftId, sample);
    const { job_id: jobId } = job;
    if (sample === undefined || values.watch === false) {
      if (values.json) printJson(context, job);
      else context.terminal.out.write(`${jobId} is ${job.status}.\n`);
      return exitCode('ok');
    }
    const interrupts = listenForInterrupts(context.signals);
    try {
      const following = { calls, jobId, interrupts, sink: null, asJson: values.json === true };
      return await followJob(following, context);
    } finally {
      interrupts.stopListening();
    }
  },
});
