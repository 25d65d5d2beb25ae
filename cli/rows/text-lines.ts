import { inputError } from '../errors.ts';

/** A line of a text file, without its end. */
export interface TextLine {
  /** 1-based. */
  readonly line: number;
  readonly text: string;
}

/** No request is this long; a file without line breaks must not fill the memory. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;
const LF = 10;
const BYTE_ORDER_MARK = '\uFEFF';

/**
 * Splits UTF-8 at line feeds alone, as JSON Lines has it: U+2028 and the like stay in their text. Drops a byte order mark
 * and a carriage return before the line feed. Throws an input error for bytes that are not UTF-8.
 */
export async function* readTextLines(bytes: AsyncIterable<Uint8Array>, file: string): AsyncGenerator<TextLine> {
  let line = 1;
  let pending: Uint8Array[] = [];
  let pendingBytes = 0;
  for await (const chunk of bytes) {
    let start = 0;
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      yield { line, text: decode([...pending, chunk.subarray(start, end)], file, line) };
      pending = [];
      pendingBytes = 0;
      start = end + 1;
      line += 1;
    }
    if (start === chunk.length) continue;
    pending.push(chunk.subarray(start));
    pendingBytes += chunk.length - start;
    if (pendingBytes > MAX_LINE_BYTES) throw inputError(file, line, 'the line is longer than 64 MiB');
  }
  if (pendingBytes > 0) yield { line, text: decode(pending, file, line) };
}

function decode(parts: readonly Uint8Array[], file: string, line: number): string {
  const text = decodeUtf8(parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts), file, line);
  const end = text.endsWith('\r') ? text.length - 1 : text.length;
  return text.slice(line === 1 && text.startsWith(BYTE_ORDER_MARK) ? 1 : 0, end);
}

function decodeUtf8(bytes: Uint8Array, file: string, line: number): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw inputError(file, line, 'not valid UTF-8; save the file as UTF-8');
  }
}
