import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { Transform } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import busboy from 'busboy';
import { invalidRequest, refusal } from './errors.ts';

export interface Upload {
  fields: ReadonlyMap<string, string>;
  file: { filename: string; bytes: number; lines: number } | undefined;
}

export interface UploadLimits {
  maxBytes: number;
  /** Drops the connection once this many bytes of the file came in. */
  cutAfterBytes?: number | undefined;
}

const LF = 0x0a;

/**
 * Reads a multipart upload whose parts come in any order and streams its `file` part to `path`. Needs neither a
 * content length nor a useful part type. Too large a file is read to its end, so that the client hears the refusal.
 */
export async function receiveUpload(incoming: IncomingMessage, path: string, limits: UploadLimits): Promise<Upload> {
  const fields = new Map<string, string>();
  const writing: Promise<void>[] = [];
  let file: Upload['file'];
  let isTooLarge = false;
  const parser = openParser(incoming);

  parser.on('field', (name, value) => fields.set(name, value));
  parser.on('file', (name, part, { filename }) => {
    if (name !== 'file' || file !== undefined) {
      part.resume();
      return;
    }
    const received = { filename: filename ?? '', bytes: 0, lines: 0 };
    file = received;
    const count = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        received.bytes += chunk.length;
        for (let at = chunk.indexOf(LF); at !== -1; at = chunk.indexOf(LF, at + 1)) received.lines += 1;
        if (received.bytes >= (limits.cutAfterBytes ?? Number.POSITIVE_INFINITY)) incoming.destroy();
        isTooLarge ||= received.bytes > limits.maxBytes;
        done(null, isTooLarge ? undefined : chunk);
      },
    });
    const written = pipeline(part, count, createWriteStream(path));
    // Awaited below; until then a broken upload must not count as unhandled.
    written.catch(() => undefined);
    writing.push(written);
  });

  try {
    incoming.pipe(parser);
    incoming.once('close', () => {
      if (!incoming.complete) parser.destroy(new Error('the connection closed during the upload'));
    });
    await finished(parser);
    await Promise.all(writing);
  } catch {
    await rm(path, { force: true });
    throw invalidRequest('The multipart body could not be read.');
  }
  if (isTooLarge) {
    await rm(path, { force: true });
    const message = `The file is too large: the limit for the Batch API is ${limits.maxBytes} bytes.`;
    throw refusal(413, { message, param: 'file', code: 'file_too_large' });
  }
  return { fields, file };
}

function openParser(incoming: IncomingMessage): busboy.Busboy {
  try {
    return busboy({ headers: incoming.headers, defParamCharset: 'utf8' });
  } catch {
    throw invalidRequest("The body must be 'multipart/form-data'.");
  }
}
