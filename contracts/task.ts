import { z } from 'zod';
import { readCompletion } from '../domain/completion-reply.ts';
import { isJsonObject, type JsonObject } from '../domain/json-object.ts';
import { MAX_PRIORITY, MIN_PRIORITY, TASK_STATES, TASK_TYPES, type TaskState, type TaskType } from '../domain/task.ts';
import { plainText, Timestamp } from './text.ts';

/** UTF-16 units, as JavaScript and JSON count a text. */
export const MAX_PROMPT_CHARS = 1_000_000;
const MAX_SYSTEM_CHARS = 100_000;
const MAX_OUTPUT_TOKENS = 1_000_000;

function promptText(maxChars: number) {
  return z
    .string()
    .min(1)
    .max(maxChars)
    .refine((text) => text.isWellFormed(), 'must be well-formed text, without halves of surrogate pairs')
    .refine((text) => text.trim() !== '', 'must not be only white space');
}

const PayloadInput = z.strictObject({
  prompt: promptText(MAX_PROMPT_CHARS).meta({ description: 'What the model is asked, as the user.' }),
  model: plainText(200)
    .optional()
    .meta({
      description:
        'An alias, a model or `provider/model`, which has to lead to the provider of `taskType`. Absent: the alias `task-openai`, ' +
        '`task-anthropic` or `task-gemini`, which a tenant may point elsewhere.',
      example: 'analysis-small',
    }),
  system: promptText(MAX_SYSTEM_CHARS).optional().meta({ description: 'Instructions that stand before the prompt.' }),
  maxTokens: z
    .int()
    .min(1)
    .max(MAX_OUTPUT_TOKENS)
    .optional()
    .meta({ description: 'The most tokens of the reply; no more than the model can write.' }),
});
export type TaskPayload = z.infer<typeof PayloadInput>;

export const CreateTask = z
  .strictObject({
    taskType: z.enum(TASK_TYPES).meta({ description: 'Whose ordinary endpoint the task runs on.' }),
    priority: z
      .number()
      .refine(Number.isInteger, 'must be a whole number')
      .optional()
      .meta({
        description:
          `Kept for compatibility, without effect on order. ${MIN_PRIORITY} to ${MAX_PRIORITY}, ${MIN_PRIORITY} where absent; other ` +
          'whole numbers are brought into that range.',
        example: 1,
      }),
    payload: PayloadInput,
    webhookUrl: z
      .url()
      .max(2048)
      .optional()
      .meta({ description: 'Called once the task has ended.', example: 'https://hooks.example.com/tasks' }),
  })
  .meta({ id: 'CreateTask' });
export type CreateTask = z.infer<typeof CreateTask>;

const Tokens = z.int().meta({ description: 'Tokens.' });

const Response = z
  .object({
    text: z.string(),
    model: z.string().nullable(),
    finishReason: z.string().nullable().meta({ description: '`stop`, `length`, …' }),
    usage: z.object({
      inputTokens: Tokens,
      cachedInputTokens: Tokens,
      outputTokens: Tokens,
      reasoningTokens: Tokens,
      estimated: z.boolean().meta({ description: 'True where a count is not the provider’s own.' }),
    }),
  })
  .meta({ id: 'TaskResponse' });
export type TaskResponse = z.infer<typeof Response>;

const CONTENT_GONE = ['deleted', 'not_stored'] as const;
export type GoneContent = (typeof CONTENT_GONE)[number];

const TASK = {
  id: z.string().meta({ example: 'task_01j7zb8k3te9aabfm0z0e2d3k4' }),
  taskType: z.enum(TASK_TYPES),
  status: z.enum(TASK_STATES),
  priority: z.int().min(MIN_PRIORITY).max(MAX_PRIORITY),
  payload: PayloadInput.nullable(),
  response: Response.nullable().meta({ description: 'Null until the task is COMPLETED.' }),
  error: z
    .object({ code: z.string(), message: z.string() })
    .nullable()
    .meta({ description: 'Why the last attempt failed, once the task is FAILED.' }),
  attempts: z.int().meta({ description: 'Attempts begun.' }),
  createdAt: Timestamp,
  startedAt: Timestamp.nullable().meta({ description: 'When the first attempt began.' }),
  completedAt: Timestamp.nullable().meta({ description: 'When it became COMPLETED or FAILED.' }),
  content: z
    .enum(CONTENT_GONE)
    .optional()
    .meta({
      description:
        'There only where `payload` or `response` is null because the gateway has it no more: `deleted`, or `not_stored` by the ' +
        'storage policy.',
    }),
};

export const Task = z
  .object(TASK)
  .meta({ id: 'Task', description: 'One durable task, as GET and its webhook show it.' });
export type Task = z.infer<typeof Task>;

const Transition = z.object({
  status: z.enum(TASK_STATES),
  attempt: z.int().meta({ description: 'The attempt that began or ended with it; 0 before the first.' }),
  at: Timestamp,
  code: z.string().nullable().meta({ description: 'Why, where that does not go without saying.' }),
});

export const TaskDetail = z
  .object({
    ...TASK,
    history: z.array(Transition).optional().meta({ description: 'With `?include=history`: every state in order.' }),
  })
  .meta({ id: 'TaskDetail' });
export type TaskDetail = z.infer<typeof TaskDetail>;

export const TaskQuery = z.strictObject({ include: z.enum(['history']).optional() });

/** Any text: an id that is none is an unknown one. */
export const TaskId = z.string().meta({ example: 'task_01j7zb8k3te9aabfm0z0e2d3k4' });

const Delivery = z
  .object({
    id: z.string(),
    eventId: z.string().meta({ description: 'The `webhook-id` of every attempt.' }),
    url: z.string(),
    status: z.string(),
    nextAttemptAt: Timestamp.nullable(),
  })
  .meta({ id: 'TaskDelivery' });

export const TaskReplay = z
  .object({ id: z.string(), deliveries: z.array(Delivery).meta({ description: 'What is sent once more.' }) })
  .meta({ id: 'TaskReplay' });
export type TaskReplay = z.infer<typeof TaskReplay>;

/** All that is shown of a task, as it is known inside. */
export interface TaskFacts {
  readonly taskId: string;
  readonly taskType: TaskType;
  readonly state: TaskState;
  readonly priority: number;
  readonly attempts: number;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly completedAt: Date | null;
  /** The item's request, the body of a chat completion as JSON text; null where it is kept no more. */
  readonly request: string | null;
  /** The item's result, a chat completion in OpenAI's shape as JSON text; null where there is none, or none is kept any more. */
  readonly result: string | null;
  /** What was settled of a completed task: it is shown rather than what the result says of itself. */
  readonly usage: TaskResponse['usage'] | null;
  /** Of a task that failed for good. */
  readonly error: { readonly code: string; readonly message: string } | null;
  /** Why content is not there that was; null where all of it is, or never was. */
  readonly gone: GoneContent | null;
}

/** The one object that GET, the webhook and the command line show. */
export function presentTask(task: TaskFacts): Task {
  const { state, error, gone } = task;
  const payload = task.request === null ? null : readPayload(task.request);
  const response = state === 'COMPLETED' && task.result !== null ? readResponse(task.result, task.usage) : null;
  const isMissing = payload === null || (state === 'COMPLETED' && response === null);
  return {
    id: task.taskId,
    taskType: task.taskType,
    status: state,
    priority: task.priority,
    payload,
    response,
    error: state === 'FAILED' && error !== null ? { code: error.code, message: error.message } : null,
    attempts: task.attempts,
    createdAt: task.createdAt.toISOString(),
    startedAt: task.startedAt?.toISOString() ?? null,
    completedAt: task.completedAt?.toISOString() ?? null,
    ...(isMissing && { content: gone ?? 'not_stored' }),
  };
}

/** The request that runs a task: the same for every provider. `readPayload` reads it back. */
export function taskRequest({ prompt, model, system, maxTokens }: TaskPayload): JsonObject {
  return {
    ...(model !== undefined && { model }),
    messages: [
      ...(system === undefined ? [] : [{ role: 'system', content: system }]),
      { role: 'user', content: prompt },
    ],
    // OpenAI's newer models refuse `max_tokens`; the other adapters read either.
    ...(maxTokens !== undefined && { max_completion_tokens: maxTokens }),
  };
}

function readPayload(request: string): TaskPayload | null {
  const body = parseObject(request);
  const messages = Array.isArray(body?.['messages']) ? body['messages'].filter(isJsonObject) : [];
  const [first] = messages;
  const prompt = messages.at(-1)?.['content'];
  if (body === null || typeof prompt !== 'string') return null;
  const { model, max_completion_tokens: maxTokens } = body;
  const system = messages.length > 1 ? first?.['content'] : undefined;
  return {
    prompt,
    ...(typeof model === 'string' && { model }),
    ...(typeof system === 'string' && { system }),
    ...(typeof maxTokens === 'number' && { maxTokens }),
  };
}

function readResponse(result: string, usage: TaskResponse['usage'] | null): TaskResponse | null {
  const reply = readCompletion(result);
  if (reply === null) return null;
  const { text, model, finishReason } = reply;
  return { text, model, finishReason, usage: usage ?? NO_USAGE };
}

const NO_USAGE: TaskResponse['usage'] = {
  inputTokens: 0,
  cachedInputTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  estimated: true,
};

function parseObject(text: string): JsonObject | null {
  const value: unknown = JSON.parse(text);
  return isJsonObject(value) ? value : null;
}
