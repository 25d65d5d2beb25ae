import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { type Cipher, SealError } from './cipher.ts';

/**
 * A stream of any length, sealed in chunks. A header, then chunks of CHUNK_BYTES, the last of them shorter or as long:
 *
 *   "BGS1" | 2 bytes: length of the sealed key | the key of this stream, sealed by the gateway's cipher (with its key's id)
 *   chunk:  AES-256-GCM of its bytes | 16 bytes of tag
 *
 * The nonce of a chunk is its number and whether it is the last, so none can be left out, doubled, swapped or taken from
 * another stream, which has another key. Nonces never repeat, for each stream has a key of its own.
 */
const MAGIC = Buffer.from('BGS1');
const LENGTH_BYTES = 2;
const KEY_BYTES = 32;
const TAG_BYTES = 16;
const NONCE_BYTES = 12;
const ALGORITHM = 'aes-256-gcm';
/** Of clear bytes in every chunk but the last. */
export const CHUNK_BYTES = 64 * 1024;

/** Seals bytes as they come, bound to `context`. Holds one chunk. */
export async function* sealStream(
  cipher: Cipher,
  plain: AsyncIterable<Uint8Array>,
  context: string,
): AsyncGenerator<Buffer> {
  const key = randomBytes(KEY_BYTES);
  const sealedKey = await cipher.seal(key, context);
  const header = Buffer.alloc(MAGIC.length + LENGTH_BYTES);
  MAGIC.copy(header);
  header.writeUInt16BE(sealedKey.length, MAGIC.length);
  yield Buffer.concat([header, sealedKey]);
  let number = 0;
  for await (const { bytes, isLast } of inPieces(plain, CHUNK_BYTES)) {
    const sealing = createCipheriv(ALGORITHM, key, nonceOf(number, isLast));
    yield Buffer.concat([sealing.update(bytes), sealing.final(), sealing.getAuthTag()]);
    number += 1;
  }
}

/**
 * The bytes that were sealed, each chunk once it is proven. Throws SealError, also after some chunks, for a stream that was
 * cut, changed or sealed for another context: only a stream read to its end is whole.
 */
export async function* openStream(
  cipher: Cipher,
  sealed: AsyncIterable<Uint8Array>,
  context: string,
): AsyncGenerator<Buffer> {
  const source = new ByteSource(sealed);
  try {
    const key = await openHeader(cipher, source, context);
    let number = 0;
    for await (const { bytes, isLast } of inPieces(source.rest(), CHUNK_BYTES + TAG_BYTES)) {
      yield openChunk(key, bytes, nonceOf(number, isLast));
      number += 1;
    }
  } finally {
    await source.close();
  }
}

async function openHeader(cipher: Cipher, source: ByteSource, context: string): Promise<Buffer> {
  const head = await source.take(MAGIC.length + LENGTH_BYTES);
  if (head === null || !head.subarray(0, MAGIC.length).equals(MAGIC)) throw new SealError('not a sealed stream');
  const sealedKey = await source.take(head.readUInt16BE(MAGIC.length));
  if (sealedKey === null) throw new SealError('a sealed stream was cut in its header');
  const key = await cipher.open(sealedKey, context);
  if (key.length !== KEY_BYTES) throw new SealError('the key of a sealed stream has another length');
  return key;
}

function openChunk(key: Buffer, chunk: Buffer, nonce: Buffer): Buffer {
  if (chunk.length < TAG_BYTES) throw new SealError('a sealed stream was cut');
  const opening = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
  opening.setAuthTag(chunk.subarray(-TAG_BYTES));
  try {
    return Buffer.concat([opening.update(chunk.subarray(0, -TAG_BYTES)), opening.final()]);
  } catch (error) {
    throw new SealError('a sealed stream was changed or cut', { cause: error });
  }
}

/** 7 bytes of zero, the chunk's number in 4, and 1 in the last byte of the last. */
function nonceOf(number: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(NONCE_BYTES);
  nonce.writeUInt32BE(number, NONCE_BYTES - 5);
  nonce.writeUInt8(isLast ? 1 : 0, NONCE_BYTES - 1);
  return nonce;
}

/** Pieces of one size, of which the last, always given, may be shorter or empty. */
async function* inPieces(
  source: AsyncIterable<Uint8Array>,
  size: number,
): AsyncGenerator<{ readonly bytes: Buffer; readonly isLast: boolean }> {
  let waiting: Uint8Array[] = [];
  let length = 0;
  for await (const bytes of source) {
    waiting.push(bytes);
    length += bytes.length;
    if (length <= size) continue;
    const all = Buffer.concat(waiting);
    let first = 0;
    // What fills a piece exactly waits: it may be the last.
    for (; all.length - first > size; first += size) {
      yield { bytes: all.subarray(first, first + size), isLast: false };
    }
    waiting = [all.subarray(first)];
    length = all.length - first;
  }
  yield { bytes: Buffer.concat(waiting), isLast: true };
}

/** Takes a stream's beginning apart from its rest. */
class ByteSource {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #left = Buffer.alloc(0);

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#chunks = source[Symbol.asyncIterator]();
  }

  /** Null where the stream is shorter. */
  async take(bytes: number): Promise<Buffer | null> {
    while (this.#left.length < bytes) {
      const next = await this.#chunks.next();
      if (next.done === true) return null;
      this.#left = Buffer.concat([this.#left, next.value]);
    }
    const taken = this.#left.subarray(0, bytes);
    this.#left = this.#left.subarray(bytes);
    return taken;
  }

  async *rest(): AsyncGenerator<Uint8Array> {
    yield this.#left;
    for (;;) {
      const next = await this.#chunks.next();
      if (next.done === true) return;
      yield next.value;
    }
  }

  async close(): Promise<void> {
    await this.#chunks.return?.();
  }
}
