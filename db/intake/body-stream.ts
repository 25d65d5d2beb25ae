import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { GatewayError } from '../../domain/gateway-error.ts';

/** Chunks are joined and cut to lie between these, whatever the stream's own: one byte each would cost dearly. */
const MIN_CHUNK_BYTES = 16 * 1024;
const MAX_CHUNK_BYTES = 256 * 1024;
/** Short bodies may compress absurdly well without harm; the ratio is looked at beyond this. */
const RATIO_APPLIES_BEYOND_BYTES = 16 * 1024 * 1024;

export interface BodyEncoding {
  /** The Content-Encoding header, if there was one: gzip or identity. */
  readonly contentEncoding?: string | undefined;
  /** Takes a body that starts like a gzip file for one, header or not. */
  readonly detectGzip: boolean;
}

export interface BodyLimits {
  /** Bytes after decompression. */
  readonly maxBodyBytes: number;
  /** Decompressed bytes per compressed byte. */
  readonly maxGzipRatio: number;
}

/**
 * The bytes of a request body, decompressed, without a leading UTF-8 byte order mark, in chunks of at most 256 KiB.
 * Holds no more than a few chunks. The stream itself is never destroyed, so that a refusal can still be answered on its
 * connection; what is left of it is the server's to drain. Throws `body_encoding` (UTF-16 or UTF-32, damaged or
 * truncated gzip), `unsupported_media_type`, `request_too_large`, or `invalid_request` when the client broke off.
 */
export async function* readBody(body: Readable, encoding: BodyEncoding, limits: BodyLimits): AsyncGenerator<Buffer> {
  const received = evened(receivedChunks(body));
  let isFirst = true;
  let bytes = 0;
  for await (const chunk of decoded(received, encoding, limits)) {
    bytes += chunk.length;
    if (bytes > limits.maxBodyBytes) {
      throw new GatewayError(
        'request_too_large',
        `The body is larger than the limit of ${limits.maxBodyBytes} bytes (after decompression). Send it in parts.`,
      );
    }
    const rest = isFirst ? checkedStart(chunk) : chunk;
    isFirst = false;
    if (rest.length > 0) yield rest;
  }
}

async function* receivedChunks(body: Readable): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of body.iterator({ destroyOnReturn: false })) {
      yield typeof chunk === 'string'
        ? Buffer.from(chunk)
        : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    }
  } catch (error) {
    throw new GatewayError('invalid_request', 'The body broke off before its end. Nothing was stored; send it again.', {
      cause: error,
    });
  }
}

/** The first chunk is the whole body or long enough to tell its encoding by. */
async function* evened(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let small: Buffer[] = [];
  let smallBytes = 0;
  for await (const chunk of chunks) {
    small.push(chunk);
    smallBytes += chunk.length;
    if (smallBytes < MIN_CHUNK_BYTES) continue;
    const joined = small.length === 1 ? chunk : Buffer.concat(small);
    small = [];
    smallBytes = 0;
    for (let start = 0; start < joined.length; start += MAX_CHUNK_BYTES) {
      yield joined.subarray(start, start + MAX_CHUNK_BYTES);
    }
  }
  if (smallBytes > 0) yield Buffer.concat(small);
}

async function* decoded(
  received: AsyncGenerator<Buffer>,
  { contentEncoding, detectGzip }: BodyEncoding,
  limits: BodyLimits,
): AsyncGenerator<Buffer> {
  const named = contentEncoding?.trim().toLowerCase() ?? '';
  if (named === 'gzip' || named === 'x-gzip') {
    yield* evened(gunzipped(received, limits));
    return;
  }
  if (named !== '' && named !== 'identity') {
    throw new GatewayError(
      'unsupported_media_type',
      `Content-Encoding "${named.slice(0, 40)}" is not supported. Send the body with gzip or without compression.`,
    );
  }
  const first = await received.next();
  if (first.done) return;
  const all = prepended(first.value, received);
  yield* detectGzip && isGzip(first.value) ? evened(gunzipped(all, limits)) : all;
}

async function* prepended(first: Buffer, rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  yield first;
  yield* rest;
}

async function* gunzipped(compressed: AsyncIterable<Buffer>, { maxGzipRatio }: BodyLimits): AsyncGenerator<Buffer> {
  let bytesIn = 0;
  let bytesOut = 0;
  async function* counted(): AsyncGenerator<Buffer> {
    for await (const chunk of compressed) {
      bytesIn += chunk.length;
      yield chunk;
    }
  }
  const gunzip = createGunzip({ chunkSize: MAX_CHUNK_BYTES });
  // An error of either side ends the loop below with that error, so the callback has nothing to add.
  pipeline(Readable.from(counted()), gunzip, () => {});
  try {
    for await (const chunk of gunzip) {
      bytesOut += chunk.length;
      if (bytesOut > RATIO_APPLIES_BEYOND_BYTES && bytesOut > bytesIn * maxGzipRatio) {
        throw new GatewayError(
          'request_too_large',
          `The body decompresses to more than ${maxGzipRatio} times its size. Send it without compression, or in parts.`,
        );
      }
      yield chunk;
    }
  } catch (error) {
    throw gzipFault(error, bytesIn);
  }
}

function gzipFault(error: unknown, bytesIn: number): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'Z_BUF_ERROR') {
    const message =
      bytesIn === 0
        ? 'The body is empty, but Content-Encoding says gzip.'
        : 'The gzip body is truncated. Nothing was stored; send the whole file.';
    return new GatewayError('body_encoding', message, { cause: error });
  }
  if (typeof code !== 'string' || !code.startsWith('Z_')) return error;
  return new GatewayError('body_encoding', 'The body is not valid gzip, or is damaged. Nothing was stored.', {
    cause: error,
  });
}

function isGzip(start: Buffer): boolean {
  return start[0] === 0x1f && start[1] === 0x8b;
}

/** The first chunk without its UTF-8 byte order mark; throws for what is plainly another encoding. */
function checkedStart(chunk: Buffer): Buffer {
  const [first, second, third] = chunk;
  if (first === 0xef && second === 0xbb && third === 0xbf) return chunk.subarray(3);
  if (isGzip(chunk)) {
    throw new GatewayError(
      'body_encoding',
      'The body is compressed with gzip, perhaps twice. Compress it once and send Content-Encoding: gzip.',
    );
  }
  const other = otherUnicode(chunk);
  if (other !== null) {
    throw new GatewayError('body_encoding', `The body is encoded as ${other}. Encode it as UTF-8.`);
  }
  return chunk;
}

/** JSON begins with ASCII, so a zero among its first bytes tells a wide encoding even without a byte order mark. */
function otherUnicode([a, b, c, d]: Buffer): string | null {
  if (a === 0xff && b === 0xfe) return c === 0 && d === 0 ? 'UTF-32' : 'UTF-16';
  if (a === 0xfe && b === 0xff) return 'UTF-16';
  if (a === 0 && b !== undefined) return b === 0 ? 'UTF-32' : 'UTF-16';
  if (b === 0) return c === 0 ? 'UTF-32' : 'UTF-16';
  return null;
}
