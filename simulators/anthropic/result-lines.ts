import { replyId } from '../answer.ts';
import type { LineRewriters } from '../line-faults.ts';
import { type AnthropicError, errorBody } from './errors.ts';

/** The result of one item (@anthropic-ai/sdk types); an error is nested twice. */
export type ItemResult =
  | { type: 'succeeded'; message: unknown }
  | { type: 'errored'; error: unknown }
  | { type: 'canceled' }
  | { type: 'expired' };

/** One line of a batch's results. */
export function resultLine(customId: string, result: ItemResult): string {
  return JSON.stringify({ custom_id: customId, result });
}

export function errored(error: AnthropicError, idSeed: string): ItemResult {
  return { type: 'errored', error: errorBody(error, replyId('req_', idSeed)) };
}

/** Lines that say nothing of their request: success without a message, a result without a type, or no id. */
export const lineRewriters: LineRewriters = {
  emptyBody: (line) => withResult(line, { type: 'succeeded', message: {} }),
  zeroStatus: (line) => withResult(line, {}),
  withoutKey: (line) => JSON.stringify({ result: parsed(line).result }),
};

function withResult(line: string, result: object): string {
  return JSON.stringify({ ...parsed(line), result });
}

function parsed(line: string): { custom_id: string; result: object } {
  return JSON.parse(line);
}
