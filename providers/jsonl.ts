import { isUtf8 } from 'node:buffer';

const LF = 0x0a;
const CR = 0x0d;
const BOM = Buffer.from([0xef, 0xbb, 0xbf]);
/** A line longer than this is no result of ours. */
export const MAX_LINE_BYTES = 64 * 1024 * 1024;
/** What a line may hold in front of and behind its content. */
const FRAME_BYTES = BOM.length + 1;

export interface JsonlLine {
  /** 1-based; blank lines are counted. */
  line: number;
  /** Without LF, one trailing CR, and a BOM at the start of the file. At most `maxLineBytes` of them. */
  bytes: Buffer;
  /** Null where the bytes are not valid UTF-8 or the line is too long. */
  text: string | null;
  isTooLong: boolean;
}

/**
 * Cuts a stream into lines at LF and nothing else, so U+2028, U+0085, VT and FF stay inside a line. Blank lines (only
 * spaces, tabs, CR) are left out; a last line without LF is a line. One array of lines for each chunk that ends any:
 * an await for each line would cost more than the line.
 */
export async function* splitLineBatches(
  source: AsyncIterable<Uint8Array>,
  { maxLineBytes }: { maxLineBytes: number },
): AsyncGenerator<JsonlLine[], void, undefined> {
  const rest = new LineRest(maxLineBytes + FRAME_BYTES);
  let line = 0;
  for await (const chunk of source) {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const lines: JsonlLine[] = [];
    let start = 0;
    for (let end = bytes.indexOf(LF); end >= 0; end = bytes.indexOf(LF, start)) {
      line += 1;
      const part = bytes.subarray(start, end);
      const read = readLine(rest.isEmpty ? part : rest.take(part), line, maxLineBytes);
      if (read !== null) lines.push(read);
      start = end + 1;
    }
    if (start < bytes.length) rest.add(bytes.subarray(start));
    if (lines.length > 0) yield lines;
  }
  if (!rest.isEmpty) {
    const read = readLine(rest.take(Buffer.alloc(0)), line + 1, maxLineBytes);
    if (read !== null) yield [read];
  }
}

/** As {@link splitLineBatches}, line by line. */
export async function* splitLines(
  source: AsyncIterable<Uint8Array>,
  limits: { maxLineBytes: number },
): AsyncGenerator<JsonlLine, void, undefined> {
  for await (const lines of splitLineBatches(source, limits)) yield* lines;
}

function readLine(raw: Buffer, line: number, maxLineBytes: number): JsonlLine | null {
  const start = line === 1 && raw.subarray(0, BOM.length).equals(BOM) ? BOM.length : 0;
  const end = raw.length > start && raw[raw.length - 1] === CR ? raw.length - 1 : raw.length;
  const bytes = raw.subarray(start, end);
  if (bytes.length > maxLineBytes) {
    return { line, bytes: bytes.subarray(0, maxLineBytes), text: null, isTooLong: true };
  }
  if (isBlank(bytes)) return null;
  // The same verdict as a fatal TextDecoder; the check and the copy are each a single native call.
  return { line, bytes, text: isUtf8(bytes) ? bytes.toString('utf8') : null, isTooLong: false };
}

function isBlank(bytes: Buffer): boolean {
  for (const byte of bytes) {
    if (byte !== 0x20 && byte !== 0x09 && byte !== CR) return false;
  }
  return true;
}

/** The beginning of a line whose end is in a later chunk. Keeps `maxBytes`, counts and drops what is beyond. */
class LineRest {
  readonly #maxBytes: number;
  #kept = Buffer.alloc(0);
  #length = 0;
  #isEmpty = true;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get isEmpty(): boolean {
    return this.#isEmpty;
  }

  add(part: Buffer): void {
    this.#isEmpty = false;
    // One byte more than a line may have marks it as too long.
    const wanted = Math.min(this.#length + part.length, this.#maxBytes + 1);
    if (wanted > this.#kept.length) {
      const grown = Buffer.alloc(Math.min(Math.max(wanted, this.#kept.length * 2, 4096), this.#maxBytes + 1));
      this.#kept.copy(grown, 0, 0, this.#length);
      this.#kept = grown;
    }
    part.copy(this.#kept, this.#length, 0, wanted - this.#length);
    this.#length = wanted;
  }

  take(part: Buffer): Buffer {
    this.add(part);
    const line = Buffer.from(this.#kept.subarray(0, this.#length));
    this.#length = 0;
    this.#isEmpty = true;
    return line;
  }
}
