import { text } from 'node:stream/consumers';
import { CreateTask, MAX_PROMPT_CHARS, type Task } from '../../contracts/task.ts';
import { CONNECTION_OPTIONS, type Context, defineCommand } from '../command.ts';
import { connectTenant } from '../connection.ts';
import { CommandError, plainText, usageError } from '../errors.ts';
import { exitCode } from '../exit-codes.ts';
import type { TenantCalls } from '../gateway.ts';
import { type Interrupts, listenForInterrupts } from '../interrupts.ts';
import { oneOf, readCount } from '../option-values.ts';
import { printJson } from '../output.ts';

const TASK_TYPES = CreateTask.shape.taskType.options;
const FIRST_DELAY_MS = 250;
const MAX_DELAY_MS = 5_000;
const GROWTH = 1.5;

export const taskCommand = defineCommand({
  name: 'task',
  summary: 'queue one prompt as a durable task, and wait for its reply',
  arguments: ['PROMPT'],
  options: {
    type: { type: 'string', value: 'TYPE', help: `whose endpoint it runs on: ${TASK_TYPES.join(', ')}` },
    model: { type: 'string', value: 'MODEL', help: 'an alias or model of that provider; else its task-… alias' },
    system: { type: 'string', value: 'TEXT', help: 'instructions that stand before the prompt' },
    'max-tokens': { type: 'string', value: 'N', help: 'the most tokens of the reply' },
    priority: { type: 'string', value: 'N', help: '1 to 10; echoed, without effect on order' },
    webhook: { type: 'string', value: 'URL', help: 'called once the task has ended' },
    wait: { type: 'boolean', help: 'poll it to its end and print the reply' },
    ...CONNECTION_OPTIONS,
  },
  details:
    'PROMPT - reads the prompt from standard input. Without --wait the id is printed; GET /v1/async/task/{id} answers for 24 ' +
    'hours after the end.',
  examples: [
    'task "Capital of France?" --type GEMINI --wait',
    'task - --type ANTHROPIC --system "Answer in one line." --max-tokens 200 < prompt.txt',
  ],
  async run({ values, positionals: [given = ''] }, context) {
    const task = await readTask(given, values, context);
    const calls = connectTenant(values, context);
    const interrupts = listenForInterrupts(context.signals);
    try {
      const made = await calls.createTask(task);
      const last = values.wait === true ? await waitForEnd(calls, made, interrupts, context) : made;
      if (values.json) printJson(context, last);
      else tell(last, values.wait === true, context);
      if (values.wait !== true) return exitCode('ok');
      if (interrupts.signal.aborted && last.completedAt === null) return exitCode('interrupted');
      return exitCode(last.status === 'COMPLETED' ? 'ok' : 'unsuccessful');
    } finally {
      interrupts.stopListening();
    }
  },
});

interface Values {
  readonly type?: string;
  readonly model?: string;
  readonly system?: string;
  readonly 'max-tokens'?: string;
  readonly priority?: string;
  readonly webhook?: string;
}

async function readTask(given: string, values: Values, { standardInput }: Context): Promise<CreateTask> {
  const { type, model, system, 'max-tokens': maxTokens, priority, webhook } = values;
  if (type === undefined) throw usageError(`--type is needed: ${TASK_TYPES.join(', ')}.`, '--type');
  const taskType = oneOf('--type', type.toUpperCase(), TASK_TYPES);
  const prompt = given === '-' ? await text(standardInput) : given;
  if (prompt.trim() === '') throw usageError('The prompt is empty.', 'PROMPT');
  if (prompt.length > MAX_PROMPT_CHARS)
    throw usageError(`The prompt may have ${MAX_PROMPT_CHARS} characters, and has ${prompt.length}.`, 'PROMPT');
  return {
    taskType,
    ...(priority !== undefined && { priority: readPriority(priority) }),
    payload: {
      prompt,
      ...(model !== undefined && { model }),
      ...(system !== undefined && { system }),
      ...(maxTokens !== undefined && { maxTokens: readCount('--max-tokens', maxTokens, 1) }),
    },
    ...(webhook !== undefined && { webhookUrl: webhook }),
  };
}

/** The gateway brings it into range. */
function readPriority(given: string): number {
  if (/^-?\d{1,15}$/.test(given)) return Number(given);
  throw usageError(`--priority must be a whole number, not "${given}".`, '--priority');
}

/** As it is at its end, or when the person leaves: the task goes on. */
async function waitForEnd(
  calls: Pick<TenantCalls, 'getTask'>,
  made: Task,
  { signal }: Interrupts,
  context: Context,
): Promise<Task> {
  let task = made;
  for (let delayMs = FIRST_DELAY_MS; task.completedAt === null; delayMs = Math.min(delayMs * GROWTH, MAX_DELAY_MS)) {
    await context.sleep(delayMs, signal).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
    if (signal.aborted) return task;
    task = await calls.getTask(made.id);
  }
  return task;
}

function tell(task: Task, hasWaited: boolean, { terminal: { out, err } }: Context): void {
  const { id, status, response, error } = task;
  if (!hasWaited) {
    out.write(`${id}\n`);
  } else if (status === 'COMPLETED') {
    out.write(`${response?.text ?? ''}\n`);
  } else if (error !== null) {
    throw new CommandError('unsuccessful', { error: error.code, message: `${id} failed: ${plainText(error.message)}` });
  } else {
    err.write(`${id} is ${status} and goes on.\n`);
  }
}
