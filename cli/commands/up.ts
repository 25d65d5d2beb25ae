import { defineCommand } from '../command.ts';
import { dataOption, runLocalStack, STACK_OPTIONS } from '../local-stack.ts';
import { printJson } from '../output.ts';
import { describeStack } from '../stack-summary.ts';

export const upCommand = defineCommand({
  name: 'up',
  summary: 'start the local stack: Postgres, Temporal, simulators, API and worker',
  arguments: [],
  options: STACK_OPTIONS,
  details:
    'Prints where everything is once it is ready, and runs until Ctrl-C. The first start makes a tenant, a budget and keys. ' +
    'Other commands in the same folder then need no settings. Providers whose key is in the environment (OPENAI_API_KEY) are ' +
    'used for real; the others are simulated. With --json one line is printed when all is ready.',
  examples: ['up', 'up --port 9000 --data /var/lib/batchgate', 'up --ephemeral --port 0 --json'],
  run({ values }, context) {
    return runLocalStack(values, context, async (ready) => {
      if (values.json) {
        printJson(context, ready);
        return 'stay';
      }
      const { out, paint } = context.terminal;
      const run = `${context.program} run FILE --template "{{column}}" --model analysis-small --out results.jsonl${dataOption(values)}`;
      const settings = `BATCHGATE_URL=${ready.api_url} BATCHGATE_KEY=${ready.tenant_key} `;
      out.write(`\n${paint('bold', 'Batchgate is ready.')}\n\n${describeStack(ready, context)}\n`);
      out.write(`In another terminal:\n  ${values.ephemeral ? settings : ''}${run}\n\nCtrl-C stops everything.\n`);
      return 'stay';
    });
  },
});
