import type { z } from 'zod';
import type { ResultRow } from '../../contracts/result-row.ts';

export type Result = z.infer<typeof ResultRow>;

/** A settled item as a line of a results file: the gateway's row with the text of a chat completion brought up front. */
export function resultLine(row: Result): string {
  const { custom_id, status, item_id, result, error, ...rest } = row;
  const text = completionText(result);
  return `${JSON.stringify({ custom_id, status, ...(text !== null && { text }), error, result, ...rest, item_id })}\n`;
}

/** What the first choice says, of a completion in OpenAI's shape; null for any other result. */
export function completionText(result: unknown): string | null {
  const choices = member(result, 'choices');
  const content = Array.isArray(choices) ? member(member(choices[0], 'message'), 'content') : undefined;
  return typeof content === 'string' ? content : null;
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && name in value ? value[name as keyof typeof value] : undefined;
}
