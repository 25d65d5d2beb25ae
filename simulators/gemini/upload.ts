import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { truncate } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { refusal } from './errors.ts';
import type { FileRecord } from './records.ts';

const LF = 0x0a;
/** Every chunk but the last is a multiple of this (Google resumable uploads). */
export const GRANULARITY_BYTES = 256 * 1024;

/** A resumable upload under way; its bytes so far lie at `path`. */
export interface UploadSession {
  id: string;
  fileId: string;
  path: string;
  declaredBytes: number;
  mimeType: string;
  displayName: string | undefined;
  received: number;
  lines: number;
  isCancelled: boolean;
  /** The file, once the upload was finalized. */
  file?: FileRecord;
}

export interface Chunk {
  offset: number;
  isLast: boolean;
  /** Drops the connection once this many bytes of the chunk came in. */
  cutAfterBytes?: number | undefined;
}

/**
 * Reads one chunk into its place. A chunk that is there already is read over, as a client sends one again whose answer
 * it did not get; a gap, too many bytes or a broken connection leave the upload as it was.
 */
export async function receiveChunk(session: UploadSession, incoming: IncomingMessage, chunk: Chunk): Promise<void> {
  const { received, declaredBytes } = session;
  const isRepeated = chunk.offset < received || session.file !== undefined;
  if (chunk.offset > received) {
    throw refusal('INVALID_ARGUMENT', `The chunk begins at ${chunk.offset}, but ${received} bytes were received.`);
  }
  const count = { bytes: 0, lines: 0 };
  const counter = new Transform({
    transform(part: Buffer, _encoding, done) {
      count.bytes += part.length;
      for (let at = part.indexOf(LF); at !== -1; at = part.indexOf(LF, at + 1)) count.lines += 1;
      if (count.bytes >= (chunk.cutAfterBytes ?? Number.POSITIVE_INFINITY)) incoming.destroy();
      done(null, isRepeated || chunk.offset + count.bytes > declaredBytes ? undefined : part);
    },
  });
  const flags = chunk.offset === 0 && !isRepeated ? 'w' : 'r+';
  const target = createWriteStream(session.path, { flags, start: chunk.offset });
  await pipeline(incoming, counter, target).catch(() => {
    throw refusal('INVALID_ARGUMENT', 'The upload was interrupted.');
  });
  const end = chunk.offset + count.bytes;
  if (isRepeated) {
    if (end > received) throw refusal('INVALID_ARGUMENT', `The chunk overlaps the ${received} bytes received.`);
    return;
  }
  if (end > declaredBytes || (chunk.isLast && end !== declaredBytes)) {
    throw refusal('INVALID_ARGUMENT', `The upload has ${end} bytes, but ${declaredBytes} were announced.`);
  }
  if (!chunk.isLast && count.bytes % GRANULARITY_BYTES !== 0) {
    throw refusal('INVALID_ARGUMENT', `The size of a chunk must be a multiple of ${GRANULARITY_BYTES}.`);
  }
  session.received = end;
  session.lines += count.lines;
}

/** The SHA-256 of a finished upload, in hexadecimal. */
export async function finishBytes({ path, received }: UploadSession): Promise<string> {
  await truncate(path, received);
  const hash = createHash('sha256');
  for await (const part of createReadStream(path)) hash.update(part);
  return hash.digest('hex');
}
