import type { ItemPlan } from './item-plan.ts';
import type { Row } from './row.ts';

const CHUNK_CHARS = 64 * 1024;

/**
 * The items of a file as NDJSON. Blank lines keep each item on the line on which its row starts in the file, so that
 * what the gateway says of a line is true of the file.
 */
export async function* manifestLines(
  rows: AsyncIterable<Row>,
  plan: ItemPlan,
  onItem: (items: number) => void = () => undefined,
): AsyncGenerator<Uint8Array> {
  let pending: string[] = [];
  let chars = 0;
  let items = 0;
  let line = 1;
  for await (const row of rows) {
    items += 1;
    const text = `${'\n'.repeat(Math.max(0, row.line - line))}${plan.toItem(row, items)}\n`;
    line = Math.max(line, row.line) + 1;
    pending.push(text);
    chars += text.length;
    onItem(items);
    if (chars < CHUNK_CHARS) continue;
    yield Buffer.from(pending.join(''));
    pending = [];
    chars = 0;
  }
  if (pending.length > 0) yield Buffer.from(pending.join(''));
}
