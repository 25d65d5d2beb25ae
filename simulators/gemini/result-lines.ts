import type { InputItem, Source } from './lines.ts';
import type { ItemReply } from './replies.ts';

/** One result: a line with its `key` in a file, an element with its `metadata` inline (Gemini API docs, Batch API). */
export function resultLine(item: InputItem, reply: ItemReply, destination: Source): string {
  if (destination === 'file') return JSON.stringify({ key: keyOf(item), ...reply });
  return JSON.stringify({
    ...reply,
    metadata: item.metadata ?? (item.key === undefined ? undefined : { key: item.key }),
  });
}

/** Lines that say nothing of their item (an empty response, a status of code 0), and one that says not whose it is. */
export const lineRewriters = {
  emptyBody: (line: string) => withoutOutcome(line, { response: {} }),
  zeroStatus: (line: string) => withoutOutcome(line, { error: {} }),
  withoutKey: (line: string) => JSON.stringify({ ...JSON.parse(line), key: undefined, metadata: undefined }),
};

function withoutOutcome(line: string, outcome: object): string {
  const { key, metadata }: { key?: string; metadata?: object } = JSON.parse(line);
  return JSON.stringify({ key, ...outcome, metadata });
}

function keyOf({ key, metadata }: InputItem): unknown {
  return key ?? metadata?.['key'];
}
