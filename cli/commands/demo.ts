import { findRunningStack } from '../../local/ready-file.ts';
import type { StackReady } from '../../local/stack-options.ts';
import { type Context, defineCommand } from '../command.ts';
import { DATA_DIRECTORY } from '../connection.ts';
import type { Demo } from '../demo/demo.ts';
import { runDemo } from '../demo/run-demo.ts';
import { listenForInterrupts } from '../interrupts.ts';
import { dataOption, runLocalStack, STACK_OPTIONS, type StackValues } from '../local-stack.ts';
import { readCount } from '../option-values.ts';

const DEFAULT_ITEMS = '1200';
const MAX_ITEMS = 50_000;

export const demoCommand = defineCommand({
  name: 'demo',
  summary: 'start the local stack and watch 1,200 support tickets run on three providers at once',
  arguments: [],
  options: {
    items: { type: 'string', value: 'N', help: `how many tickets (${DEFAULT_ITEMS})` },
    keep: { type: 'boolean', help: 'leave the stack running when the jobs have ended, until Ctrl-C' },
    ...STACK_OPTIONS,
  },
  details:
    'The tickets are dealt out to three jobs, one each on OpenAI, Anthropic and Gemini. A provider whose key is set ' +
    '(OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY) is asked for real, which costs money (at most 5.00 USD a job) and ' +
    'may take hours; the others are simulated, Gemini with some errors, to show what partial failure looks like. Where a ' +
    'stack runs on the data folder already, the jobs run on that.',
  examples: ['demo', 'demo --items 20000 --keep', 'demo --ephemeral --port 0 --json'],
  async run({ values }, context) {
    const items = readCount('--items', values.items ?? DEFAULT_ITEMS, 1, MAX_ITEMS);
    const asJson = values.json === true;
    const running = values.ephemeral ? null : await findAnswering(values.data ?? DATA_DIRECTORY, context);
    if (running !== null) return runOn(running, { items, asJson, dataOption: dataOption(values) }, context);
    let demoCode = 0;
    const stackCode = await runLocalStack(values, context, async (ready, signal) => {
      demoCode = await runDemo(
        { ready, signal, items, asJson, dataOption: dataOption(values), whatIsNext: describeNext(values, context) },
        context,
      );
      return values.keep ? 'stay' : 'stop';
    });
    return demoCode === 0 ? stackCode : demoCode;
  },
});

/** A stack that runs on the folder already: two of them cannot. */
async function findAnswering(dataDirectory: string, context: Context): Promise<StackReady | null> {
  const ready = findRunningStack(dataDirectory);
  if (ready === undefined) return null;
  const answers = await context.fetch(`${ready.api_url}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );
  return answers ? ready : null;
}

async function runOn(
  ready: StackReady,
  options: Pick<Demo, 'items' | 'asJson' | 'dataOption'>,
  context: Context,
): Promise<number> {
  const interrupts = listenForInterrupts(context.signals);
  try {
    const whatIsNext = 'The stack was running before and goes on.';
    return await runDemo({ ready, signal: interrupts.signal, whatIsNext, ...options }, context);
  } finally {
    interrupts.stopListening();
  }
}

function describeNext(values: StackValues & { readonly keep?: boolean }, { program }: Context): string {
  const { keep, ephemeral } = values;
  if (keep) return 'The stack goes on; Ctrl-C stops it.';
  if (ephemeral) return 'The stack stops now and keeps nothing; --keep leaves it running.';
  return `The stack stops now; "${program} up${dataOption(values)}" brings it back with everything in it, and --keep leaves it running.`;
}
