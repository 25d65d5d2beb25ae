import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';

const CHUNK_BYTES = 256 * 1024;
const LF = 0x0a;

/** What a line that is not UTF-8 reads as: nothing a JSON parser accepts. */
export const UNREADABLE = '\uFFFD';

/**
 * The lines of a file in order, a block of them at a time. Only LF ends a line; a CR before it is dropped. A last line
 * without LF counts, and blank lines are given as they are, so that line numbers stay true.
 */
export async function* readLines(path: string): AsyncGenerator<string[]> {
  let rest: Buffer[] = [];
  for await (const chunk of createReadStream(path, { highWaterMark: CHUNK_BYTES })) {
    if (!Buffer.isBuffer(chunk)) continue;
    const end = chunk.lastIndexOf(LF);
    if (end === -1) {
      rest.push(chunk);
      continue;
    }
    yield splitLines(Buffer.concat([...rest, chunk.subarray(0, end)]));
    rest = [chunk.subarray(end + 1)];
  }
  const last = Buffer.concat(rest);
  if (last.length > 0) yield splitLines(last);
}

function splitLines(block: Buffer): string[] {
  const lines = block.toString('utf8').split('\n').map(withoutCarriageReturn);
  if (isUtf8(block)) return lines;
  let start = 0;
  return lines.map((line) => {
    const found = block.indexOf(LF, start);
    const end = found === -1 ? block.length : found;
    const readable = isUtf8(block.subarray(start, end));
    start = end + 1;
    return readable ? line : UNREADABLE;
  });
}

function withoutCarriageReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}
