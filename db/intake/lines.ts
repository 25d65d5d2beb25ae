/** An item that could not become text. Its place in `ItemTexts.texts` holds an empty string. */
export interface TextFault {
  readonly position: number;
  readonly fault: 'line_too_long' | 'invalid_utf8';
  /** Of a text that is too long. */
  readonly size?: TextSize;
}

export interface TextSize {
  /** Its beginning, enough to tell which item it is. */
  readonly head: string;
  readonly bytes: number;
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
const HEAD_BYTES = 4 * 1024;

/**
 * Splits UTF-8 bytes into lines: LF alone ends one, a CR right before it is dropped, and no other character counts
 * (U+2028, U+2029, U+0085, VT and FF stay in their text). The last line needs no LF. A line over `maxLineBytes` is
 * skipped and reported once, so no more than that is ever held. Yields one batch for each chunk that ends a line.
 */
export async function* splitLines(chunks: AsyncIterable<Buffer>, maxLineBytes: number): AsyncGenerator<ItemTexts> {
  let line = 1;
  const pending = new PendingLine(maxLineBytes);
  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf(LF);
    if (end !== -1) {
      const firstEnd = chunk.indexOf(LF);
      // The first line ends here: what came before of it either joins it or is dropped with it.
      const isWhole = pending.bytes === 0 && firstEnd <= maxLineBytes;
      if (!isWhole) pending.add(chunk.subarray(0, firstEnd));
      const text = isWhole ? chunk.subarray(0, end) : Buffer.concat([...pending.pieces, chunk.subarray(firstEnd, end)]);
      const batch = decodeLines(text, line, maxLineBytes, pending.skipped);
      yield batch;
      line += batch.texts.length;
      pending.clear();
    }
    pending.add(chunk.subarray(end + 1));
  }
  if (pending.bytes > 0) yield decodeLines(Buffer.concat(pending.pieces), line, maxLineBytes, pending.skipped);
}

/** A line whose end has not come yet; of one that is too long only the beginning is held. */
class PendingLine {
  readonly #maxBytes: number;
  pieces: Buffer[] = [];
  bytes = 0;
  #head: string | null = null;

  constructor(maxLineBytes: number) {
    // One byte of grace for a CR that may turn out to belong to the line end.
    this.#maxBytes = maxLineBytes + 1;
  }

  get skipped(): TextSize | null {
    return this.#head === null ? null : { head: this.#head, bytes: this.bytes };
  }

  add(piece: Buffer): void {
    if (piece.length === 0) return;
    this.bytes += piece.length;
    if (this.#head === null) this.pieces.push(piece);
    if (this.bytes <= this.#maxBytes) return;
    this.#head ??= sizeOf(this.pieces).head;
    this.pieces = [];
  }

  clear(): void {
    this.pieces = [];
    this.bytes = 0;
    this.#head = null;
  }
}

/** How large a text is so far, which has come in pieces. */
export function sizeOf(pieces: readonly Buffer[]): TextSize {
  const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
  return { head: Buffer.concat(pieces, Math.min(bytes, HEAD_BYTES)).toString('utf8'), bytes };
}

/** Whether a line holds nothing but white space. Blank lines are no items, wherever they stand, but they are counted. */
export function isBlank(line: string): boolean {
  return line === '' || (line.charCodeAt(0) <= 32 && BLANK.test(line));
}

/** `skipped` is the size of a first line that is not in `bytes` for its length. */
function decodeLines(bytes: Buffer, firstLine: number, maxLineBytes: number, skipped: TextSize | null): ItemTexts {
  const faults: TextFault[] = skipped === null ? [] : [{ position: firstLine, fault: 'line_too_long', size: skipped }];
  const texts = decodeUtf8(bytes)?.split('\n') ?? decodeEach(bytes, firstLine, faults);
  for (const [index, text] of texts.entries()) {
    if (text.charCodeAt(text.length - 1) === CR) texts[index] = text.slice(0, -1);
    if (text.length * MAX_BYTES_PER_UNIT <= maxLineBytes) continue;
    const line = texts[index] ?? '';
    const lineBytes = Buffer.byteLength(line);
    if (lineBytes <= maxLineBytes) continue;
    texts[index] = '';
    const size = { head: line.slice(0, HEAD_BYTES), bytes: lineBytes };
    faults.push({ position: firstLine + index, fault: 'line_too_long', size });
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
