import { CONNECTION_OPTIONS, defineCommand } from '../command.ts';
import { connectTenant } from '../connection.ts';
import { exitCode } from '../exit-codes.ts';
import { describeValidation } from '../findings.ts';
import { printJson } from '../output.ts';

export const validateCommand = defineCommand({
  name: 'validate',
  summary: 'tell what a submit of a draft would say and cost; holds nothing',
  arguments: ['JOB'],
  options: CONNECTION_OPTIONS,
  examples: ['validate job_01j7zb8k3te9aabfm0z0e2d3k4'],
  async run({ values, positionals: [jobId = ''] }, context) {
    const validation = await connectTenant(values, context).validate(jobId);
    if (values.json) printJson(context, validation);
    else context.terminal.out.write(describeValidation(validation, context));
    return exitCode(validation.ok ? 'ok' : 'unsuccessful');
  },
});
