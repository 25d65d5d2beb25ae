/** An item that could not become text. Its place in `ItemTexts.texts` holds an empty string. */
export interface TextFault {
  readonly position: number;
  readonly fault: 'line_too_long' | 'invalid_utf8';
}

/** Neighbouring items as text: `texts[i]` is at position `firstPosition + i`, counted from 1. Of lines it is the number. */
export interface ItemTexts {
  readonly firstPosition: number;
  readonly texts: readonly string[];
  readonly faults: readonly TextFault[];
}

const LF = 10;
const CR = 13;
/** UTF-8 takes at most three bytes for a UTF-16 unit. */
const MAX_BYTES_PER_UNIT = 3;
const BLANK = /^[ \t\r]*$/;

/**
 * Splits UTF-8 bytes into lines: LF alone ends one, a CR right before it is dropped, and no other character counts
 * (U+2028, U+2029, U+0085, VT and FF stay in their text). The last line needs no LF. A line over `maxLineBytes` is
 * skipped and reported once, so no more than that is ever held. Yields one batch for each chunk that ends a line.
 */
export async function* splitLines(chunks: AsyncIterable<Buffer>, maxLineBytes: number): AsyncGenerator<ItemTexts> {
  let line = 1;
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  let isSkipping = false;
  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf(LF);
    const tail = chunk.subarray(end + 1);
    if (end !== -1) {
      const firstEnd = chunk.indexOf(LF);
      const skipped = isSkipping || pendingBytes + firstEnd > maxLineBytes + 1;
      // The first line ends here: what came before of it either joins it or is dropped with it.
      const head = skipped ? chunk.subarray(firstEnd, end) : chunk.subarray(0, end);
      const text = !skipped && pending.length > 0 ? Buffer.concat([...pending, head]) : head;
      const batch = decodeLines(text, line, maxLineBytes, skipped);
      yield batch;
      line += batch.texts.length;
      pending = [];
      pendingBytes = 0;
      isSkipping = false;
    }
    if (tail.length > 0 && !isSkipping) {
      pending.push(tail);
      pendingBytes += tail.length;
      // One byte of grace for a CR that may turn out to belong to the line end.
      isSkipping = pendingBytes > maxLineBytes + 1;
      if (isSkipping) pending = [];
    }
  }
  if (pendingBytes > 0) yield decodeLines(Buffer.concat(pending), line, maxLineBytes, isSkipping);
}

/** Whether a line holds nothing but white space. Blank lines are no items, wherever they stand, but they are counted. */
export function isBlank(line: string): boolean {
  return line === '' || (line.charCodeAt(0) <= 32 && BLANK.test(line));
}

function decodeLines(bytes: Buffer, firstLine: number, maxLineBytes: number, firstIsTooLong: boolean): ItemTexts {
  const faults: TextFault[] = firstIsTooLong ? [{ position: firstLine, fault: 'line_too_long' }] : [];
  const texts = decodeUtf8(bytes)?.split('\n') ?? decodeEach(bytes, firstLine, faults);
  for (const [index, text] of texts.entries()) {
    if (text.charCodeAt(text.length - 1) === CR) texts[index] = text.slice(0, -1);
    if (text.length * MAX_BYTES_PER_UNIT <= maxLineBytes) continue;
    if (Buffer.byteLength(texts[index] ?? '') <= maxLineBytes) continue;
    texts[index] = '';
    faults.push({ position: firstLine + index, fault: 'line_too_long' });
  }
  return { firstPosition: firstLine, texts, faults };
}

/** Null for bytes that are not UTF-8. A byte order mark is kept: at the start of a body it is long gone. */
export function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    // One that failed midway would go on from there, hence a new one each time.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

function decodeEach(bytes: Buffer, firstLine: number, faults: TextFault[]): string[] {
  const texts: string[] = [];
  for (let start = 0; start <= bytes.length; ) {
    const found = bytes.indexOf(LF, start);
    const end = found === -1 ? bytes.length : found;
    const text = decodeUtf8(bytes.subarray(start, end));
    if (text === null) faults.push({ position: firstLine + texts.length, fault: 'invalid_utf8' });
    texts.push(text ?? '');
    start = end + 1;
  }
  return texts;
}
