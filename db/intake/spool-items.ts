import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ItemFaults, ItemPlace } from './item-faults.ts';
import { type ItemFault, type ItemRules, nameIn, readItem } from './item-line.ts';
import type { ItemSpool } from './item-spool.ts';
import { type ItemTexts, isBlank, type TextFault } from './lines.ts';

/** Other requests of the process get their turn at least this often, also when the whole body has arrived already. */
const MAX_TURN_MS = 10;

export interface SpoolTask {
  readonly batches: AsyncIterable<ItemTexts>;
  readonly rules: ItemRules;
  readonly spool: ItemSpool;
  readonly faults: ItemFaults;
  readonly maxLineBytes: number;
  /** Called with the number of items so far; throws when there are too many. */
  readonly checkCount: (itemCount: number) => void;
}

/**
 * Reads every item of a body, in order. Valid ones go to the spool, until the first fault: from then on the spool is
 * empty and the rest of the body is read for its faults alone.
 */
export async function spoolItems(task: SpoolTask): Promise<void> {
  const { spool, faults } = task;
  let itemCount = 0;
  let turnStart = performance.now();
  for await (const batch of task.batches) {
    itemCount = await spoolBatch(batch, itemCount, task);
    if (faults.count > 0) await spool.close();
    if (performance.now() - turnStart > MAX_TURN_MS) {
      await nextTurn();
      turnStart = performance.now();
    }
  }
  if (faults.count === 0) await spool.finish();
}

/** Returns the number of items so far, this batch included. */
async function spoolBatch(batch: ItemTexts, itemsBefore: number, task: SpoolTask): Promise<number> {
  const { spool, faults, rules, checkCount } = task;
  const textFaults = batch.faults.length === 0 ? null : new Map(batch.faults.map((fault) => [fault.position, fault]));
  let itemCount = itemsBefore;
  for (let offset = 0; offset < batch.texts.length; offset += 1) {
    const text = batch.texts[offset] ?? '';
    const position = batch.firstPosition + offset;
    const textFault = textFaults?.get(position);
    if (textFault === undefined && isBlank(text)) continue;
    const place = itemCount;
    itemCount += 1;
    checkCount(itemCount);
    const read = textFault === undefined ? readItem(text, position, rules) : refuseText(textFault, task.maxLineBytes);
    if (!read.ok) for (const fault of read.faults) faults.add(placeOf(spool, position, place), fault);
    else if (faults.count === 0 && spool.add(read.item)) await spool.flush();
  }
  return itemCount;
}

function refuseText(
  { fault, size }: TextFault,
  maxLineBytes: number,
): { readonly ok: false; readonly faults: ItemFault[] } {
  if (fault === 'invalid_utf8') {
    return { ok: false, faults: [{ error: 'body_encoding', message: 'the item is not valid UTF-8' }] };
  }
  const length = size === undefined ? '' : `${size.bytes} bytes long, `;
  const message = `the line is ${length}longer than the limit of ${maxLineBytes} bytes. Make the request smaller`;
  return { ok: false, faults: [{ ...nameIn(size?.head ?? ''), error: 'line_too_long', message }] };
}

function placeOf({ positions }: ItemSpool, position: number, index: number): ItemPlace {
  return positions === 'line' ? { line: position, index } : { index };
}
