import { defineCommand } from '../command.ts';
import { runDemo } from '../demo/run-demo.ts';
import { runLocalStack, STACK_OPTIONS } from '../local-stack.ts';
import { readCount } from '../option-values.ts';

const DEFAULT_ITEMS = '1200';
const MAX_ITEMS = 50_000;

export const demoCommand = defineCommand({
  name: 'demo',
  summary: 'start the local stack and watch a job of 1,200 support tickets run on it',
  arguments: [],
  options: {
    items: { type: 'string', value: 'N', help: `how many tickets (${DEFAULT_ITEMS})` },
    keep: { type: 'boolean', help: 'leave the stack running when the job has ended, until Ctrl-C' },
    ...STACK_OPTIONS,
  },
  details:
    'The tickets are classified by analysis-small. With OPENAI_API_KEY set they go to OpenAI for real, which costs money ' +
    '(at most 5.00 USD) and may take hours; without it they go to the simulator.',
  examples: ['demo', 'demo --items 20000 --keep', 'demo --ephemeral --port 0 --json'],
  async run({ values }, context) {
    const items = readCount('--items', values.items ?? DEFAULT_ITEMS, 1, MAX_ITEMS);
    let demoCode = 0;
    const { keep = false, ephemeral = false, json: asJson = false } = values;
    const stackCode = await runLocalStack(values, context, async (ready, signal) => {
      demoCode = await runDemo({ ready, signal, items, asJson, keep, ephemeral }, context);
      return keep ? 'stay' : 'stop';
    });
    return demoCode === 0 ? stackCode : demoCode;
  },
});
