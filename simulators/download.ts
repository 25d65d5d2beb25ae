import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import type { Clock } from './clock.ts';
import { type FaultAction, LINE_FAULTS, TRANSFER_FAULTS } from './fault-actions.ts';
import { appendedLines, bytesToCut, createLineDamage, type LineRewriters, type ResultFileName } from './line-faults.ts';
import { readLines } from './line-reader.ts';

export interface Download {
  path: string;
  headers: Record<string, string>;
  /** Which of a batch's result files it is; undefined for any other file, whose lines are never damaged. */
  file?: ResultFileName | undefined;
  rewriters: LineRewriters;
}

/** Streams a file as the body of a 200 reply, damaged as the action says; resolves when it ended or the socket closed. */
export async function sendDownload(
  outgoing: ServerResponse,
  download: Download,
  action: FaultAction,
  clock: Clock,
): Promise<void> {
  const isPlain = ![...LINE_FAULTS, ...TRANSFER_FAULTS].some((key) => action[key] !== undefined);
  const length = isPlain ? { 'content-length': String((await stat(download.path)).size) } : {};
  outgoing.writeHead(200, { ...download.headers, ...length, ...action.headers });
  const bytes = LINE_FAULTS.some((key) => action[key] !== undefined)
    ? damagedLines(download, action)
    : createReadStream(download.path, { highWaterMark: 256 * 1024 });
  let sent = 0;
  for await (const chunk of shaped(bytes, action)) {
    if (outgoing.destroyed || sent === action.cut?.after_bytes || sent === action.truncate?.after_bytes) break;
    if (sent === action.stall?.after_bytes) {
      outgoing.flushHeaders();
      await clock.sleep(action.stall.ms);
    }
    if (!outgoing.write(chunk) && !outgoing.destroyed) await drained(outgoing);
    sent += chunk.length;
    // Each chunk is to reach the reader by itself, so it must be on its way before the next is written.
    if (action.chunk_bytes !== undefined) await setImmediate();
    if (action.chunk_delay_ms !== undefined) await clock.sleep(action.chunk_delay_ms);
  }
  if (sent === action.cut?.after_bytes) {
    // What was written must leave this machine before the socket goes, or the reader would see a shorter cut.
    await new Promise((resolve) => outgoing.write('', resolve));
    outgoing.destroy();
  }
  if (!outgoing.destroyed) outgoing.end();
}

/** The same bytes in the wanted chunks, broken at every place where something is to happen. */
async function* shaped(bytes: AsyncIterable<Buffer>, action: FaultAction): AsyncGenerator<Buffer> {
  const breaks = [action.cut, action.truncate, action.stall].flatMap((at) => (at === undefined ? [] : at.after_bytes));
  const chunkBytes = action.chunk_bytes ?? Number.POSITIVE_INFINITY;
  let position = 0;
  for await (const block of bytes) {
    let start = 0;
    while (start < block.length) {
      const nextBreak = Math.min(...breaks.filter((at) => at > position).map((at) => at - position));
      const size = Math.min(chunkBytes, nextBreak, block.length - start);
      yield block.subarray(start, start + size);
      start += size;
      position += size;
    }
  }
}

async function* damagedLines(download: Download, action: FaultAction): AsyncGenerator<Buffer> {
  const { file = 'output', rewriters } = download;
  const damage = createLineDamage(action, rewriters) ?? ((line) => [line]);
  const lineEnd = Buffer.from(action.crlf ? '\r\n' : '\n');
  let held: Buffer | undefined;
  for await (const lines of readLines(download.path)) {
    const texts = lines.flatMap((text) => damage({ file, text })).filter((line) => line.file === file);
    const block = [held ?? [], texts.map(({ text }) => Buffer.from(text))].flat();
    held = block.pop();
    if (block.length > 0) yield Buffer.concat(block.flatMap((line) => [line, lineEnd]));
  }
  const added = appendedLines(action).filter((line) => line.file === file);
  const tail = [held ?? [], added.map(({ text }) => Buffer.from(text))].flat();
  if (tail.length === 0) return;
  const last = Buffer.concat(tail.flatMap((line) => [line, lineEnd]));
  yield last.subarray(0, last.length - bytesToCut(action, file, tail.at(-1)));
}

function drained(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      outgoing.off('drain', done).off('close', done);
      resolve();
    };
    outgoing.on('drain', done).on('close', done);
  });
}
