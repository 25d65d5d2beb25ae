import { createProgress } from '../local/progress.ts';
import { leaveReadyFile } from '../local/ready-file.ts';
import { runStack } from '../local/run-stack.ts';
import type { Stack, StackReady } from '../local/stack-options.ts';
import { type Context, JSON_OPTION, type OptionSpecs, type OptionValues } from './command.ts';
import { DATA_DIRECTORY } from './connection.ts';
import { unreachable } from './errors.ts';
import { readCount } from './option-values.ts';
import { stoppable } from './signals.ts';

export const STACK_OPTIONS = {
  port: { type: 'string', value: 'N', help: 'of the API (8080); 0 is any free one' },
  data: { type: 'string', value: 'DIR', help: 'where everything is kept (.batchgate)' },
  ephemeral: { type: 'boolean', help: 'keep nothing' },
  ...JSON_OPTION,
} as const satisfies OptionSpecs;

export type StackValues = OptionValues<typeof STACK_OPTIONS>;

/** What further commands need to find the stack, with a space before it. */
export function dataOption({ data }: StackValues): string {
  return data === undefined ? '' : ` --data ${data}`;
}

const DEFAULT_PORT = '8080';
const MAX_PORT = 65_535;

/** What to do once the stack is ready: leave it running until a signal, or stop it. The signal tells that it is to stop. */
export type OnReady = (ready: StackReady, signal: AbortSignal) => Promise<'stay' | 'stop'>;

/** Runs the local stack until Ctrl-C or until `onReady` has had enough of it, and resolves to the exit code. */
export async function runLocalStack(values: StackValues, context: Context, onReady: OnReady): Promise<number> {
  const port = readCount('--port', values.port ?? DEFAULT_PORT, 0, MAX_PORT);
  const dataDirectory = values.data ?? DATA_DIRECTORY;
  const ephemeral = values.ephemeral === true;
  const { err } = context.terminal;
  const progress = createProgress(err);
  let isReady = false;
  const onProgress = (line: string) => (isReady ? err.write(`${line}\n`) : progress.say(line));

  const source = stoppable(context.signals);
  let signal = new AbortController().signal;
  let forget: () => void = () => undefined;
  const onExit = () => forget();
  process.once('exit', onExit);
  try {
    return await runStack({
      source,
      onProgress,
      start: async (starting) => {
        signal = starting;
        return await startOwnStack({
          port,
          dataDirectory,
          ephemeral,
          onProgress,
          signal,
          environment: context.environment,
        });
      },
      onReady: async ({ ready }) => {
        progress.finish();
        isReady = true;
        // A stack that keeps nothing has no folder in which others would look for it.
        if (!ephemeral) forget = leaveReadyFile(dataDirectory, ready);
        if ((await onReady(ready, signal)) === 'stop') source.stop();
      },
    });
  } catch (error) {
    if (isReady) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw unreachable(`The local stack did not start: ${reason}`, undefined, error);
  } finally {
    progress.finish();
    forget();
    process.off('exit', onExit);
  }
}

/** Loaded only when a stack is started: other commands need none of it. */
async function startOwnStack(options: Parameters<typeof import('../local/stack.ts').startStack>[0]): Promise<Stack> {
  const [{ startStack }, { STACK_PARTS }] = await Promise.all([
    import('../local/stack.ts'),
    import('../local/parts.ts'),
  ]);
  return await startStack(options, STACK_PARTS);
}
