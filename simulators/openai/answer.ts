import { sampleOfSchema } from '../json-sample.ts';
import { hash32 } from '../random.ts';
import { estimateTokens, replyText } from '../reply-text.ts';
import type { Item } from './item.ts';
import { type Body, promptTokens } from './prompt.ts';
import type { BatchUsage } from './records.ts';

/** What the model says, before it is put into an endpoint's shape. */
export interface Answer {
  text: string;
  stop: 'stop' | 'length' | 'content_filter';
  usage: BatchUsage;
}

export const NO_USAGE: BatchUsage = { input: 0, cached: 0, cacheWrite: 0, output: 0, reasoning: 0 };

/** A deterministic answer with a plausible usage, both steered by the item's directives. */
export function answerTo(item: Item): Answer {
  const { endpoint, body, prompt, directives } = item;
  const whole = toLength(directives.text ?? schemaText(body, prompt) ?? replyText(prompt), directives.chars);
  const limit = Number(body['max_completion_tokens'] ?? body['max_output_tokens'] ?? body['max_tokens'] ?? Infinity);
  const isCut = estimateTokens(whole) > limit;
  const text = directives.safety ? '' : isCut ? whole.slice(0, limit * 4).toWellFormed() : whole;
  const counted = {
    input: promptTokens(endpoint, body, prompt),
    cached: 0,
    output: directives.safety ? 1 : estimateTokens(text),
  };
  const usage = typeof directives.usage === 'object' ? directives.usage : counted;
  return {
    text,
    stop: directives.safety ? 'content_filter' : isCut ? 'length' : 'stop',
    usage: { ...usage, cacheWrite: directives.cacheWrite ?? 0, reasoning: directives.reasoning ?? 0 },
  };
}

function toLength(text: string, chars: number | undefined): string {
  if (chars === undefined) return text;
  return text.slice(0, chars).padEnd(chars, ` ${text}`).toWellFormed();
}

/** The usage object of a reply, in the endpoint's own shape, unless a directive wants none or an unknown one. */
export function usageField(item: Item, usage: unknown): { usage?: unknown } {
  if (item.directives.usage === 'none') return {};
  if (item.directives.usage === 'alien') return { usage: { units_read: 12, units_written: 34 } };
  return { usage };
}

/** An id that is the same for the same reply of the same batch. */
export function replyId(prefix: string, seed: string): string {
  const [left, right] = [hash32(seed), hash32(`${seed}.`)];
  return prefix + left.toString(16).padStart(8, '0') + right.toString(16).padStart(8, '0');
}

function schemaText(body: Body, prompt: string): string | undefined {
  const format = asBody(body['response_format'] ?? asBody(body['text'])['format']);
  if (format['type'] === 'json_object') return JSON.stringify({ answer: replyText(prompt) });
  if (format['type'] !== 'json_schema') return undefined;
  const schema = asBody(format['json_schema'])['schema'] ?? format['schema'];
  return JSON.stringify(sampleOfSchema(schema, replyText(prompt), hash32(prompt)));
}

function asBody(value: unknown): Body {
  return typeof value === 'object' && value !== null ? (value as Body) : {};
}
