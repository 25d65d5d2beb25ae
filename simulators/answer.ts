import type { Directives } from './directives.ts';
import { sampleOfSchema } from './json-sample.ts';
import { hash32 } from './random.ts';
import { estimateTokens, replyText } from './reply-text.ts';
import { rowsReply } from './rows-reply.ts';
import { rowsSchemaOf } from './rows-schema.ts';

/** What a model is asked, out of its provider's shape: the same question gets the same answer from every simulator. */
export interface Question {
  /** The text of system, user and assistant messages in order, joined by line ends; no tool results. */
  prompt: string;
  /** What rows are taken from where the schema asks for some; see readAsked. */
  material: string;
  directives: Directives;
  inputTokens: number;
  maxOutputTokens: number;
  /** The JSON schema of the reply, or `any` for JSON of any shape; undefined for plain text. */
  schema?: unknown;
  /** The tool that has to be called; see {@link chooseTool}. */
  tool?: Tool | undefined;
}

export interface Tool {
  name: string;
  /** JSON schema of its arguments. */
  parameters: unknown;
}

/** Counts of tokens; `input` includes `cached` and `cacheWrite`, `output` includes `reasoning`. */
export interface AnswerUsage {
  input: number;
  cached: number;
  cacheWrite: number;
  output: number;
  reasoning: number;
}

/** What the model says, before it is put into a provider's shape. */
export interface Answer {
  text: string;
  /** Given instead of text. */
  toolCall: { name: string; arguments: unknown } | undefined;
  stop: 'stop' | 'length' | 'content_filter' | 'tool_calls';
  usage: AnswerUsage;
}

export const NO_USAGE: AnswerUsage = { input: 0, cached: 0, cacheWrite: 0, output: 0, reasoning: 0 };

/** A deterministic answer with a plausible usage, both steered by directives. */
export function answerTo(question: Question): Answer {
  const { prompt, directives, maxOutputTokens } = question;
  const toolCall = directives.safety ? undefined : callOf(question.tool, prompt);
  const whole = toLength(directives.text ?? jsonText(question) ?? replyText(prompt), directives.chars);
  const isCut = toolCall === undefined && estimateTokens(whole) > maxOutputTokens;
  const said = isCut ? whole.slice(0, maxOutputTokens * 4).toWellFormed() : whole;
  const text = directives.safety || toolCall !== undefined ? '' : said;
  const output = toolCall === undefined ? text : JSON.stringify(toolCall);
  const counted = { input: question.inputTokens, cached: 0, output: directives.safety ? 1 : estimateTokens(output) };
  const usage = typeof directives.usage === 'object' ? directives.usage : counted;
  return {
    text,
    toolCall,
    stop: directives.safety ? 'content_filter' : toolCall !== undefined ? 'tool_calls' : isCut ? 'length' : 'stop',
    usage: { ...usage, cacheWrite: directives.cacheWrite ?? 0, reasoning: directives.reasoning ?? 0 },
  };
}

/**
 * The tool a reply calls: the one it is forced to, the first where any has to be called, and the first also where the
 * prompt asks by `[[sim:tool]]`. Otherwise the model answers in text.
 */
export function chooseTool(
  tools: readonly Tool[],
  choice: { mustCall: boolean; name?: string | undefined },
  directives: Directives,
): Tool | undefined {
  if (choice.name !== undefined) return tools.find(({ name }) => name === choice.name);
  return choice.mustCall || directives.tool ? tools[0] : undefined;
}

/** An id that is the same for the same reply of the same batch. */
export function replyId(prefix: string, seed: string): string {
  const [left, right] = [hash32(seed), hash32(`${seed}.`)];
  return prefix + left.toString(16).padStart(8, '0') + right.toString(16).padStart(8, '0');
}

function callOf(tool: Tool | undefined, prompt: string): Answer['toolCall'] {
  if (tool === undefined) return undefined;
  return { name: tool.name, arguments: sampleOfSchema(tool.parameters, replyText(prompt), hash32(prompt)) };
}

function jsonText({ schema, prompt, material, directives }: Question): string | undefined {
  if (schema === undefined) return undefined;
  const rows = rowsSchemaOf(schema);
  if (rows !== undefined) return rowsReply(rows, material, directives.rows);
  if (schema === 'any') return JSON.stringify({ answer: replyText(prompt) });
  return JSON.stringify(sampleOfSchema(schema, replyText(prompt), hash32(prompt)));
}

function toLength(text: string, chars: number | undefined): string {
  if (chars === undefined) return text;
  return text.slice(0, chars).padEnd(chars, ` ${text}`).toWellFormed();
}
