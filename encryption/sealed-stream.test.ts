import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SealError } from './cipher.ts';
import { createKeyRing, KEY_BYTES } from './key-ring.ts';
import { CHUNK_BYTES, openStream, sealStream } from './sealed-stream.ts';

const ring = createKeyRing([{ id: 'key-one', key: randomBytes(KEY_BYTES) }]);
const SEALED_CHUNK = CHUNK_BYTES + 16;
const CONTEXT = 'artifact a';

/** Sizes about the borders of chunks. */
const sizes = fc.oneof(
  fc.nat(100),
  fc
    .tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: -1, max: 1 }))
    .map(([chunks, more]) => chunks * CHUNK_BYTES + more),
);

async function* cut(bytes: Buffer, piece: number): AsyncGenerator<Buffer> {
  for (let first = 0; first < bytes.length; first += piece) yield bytes.subarray(first, first + piece);
}

async function seal(plain: Buffer, piece = 10_000, context = CONTEXT): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(sealStream(ring, cut(plain, piece), context)));
}

async function open(sealed: Buffer, piece = 10_000, context = CONTEXT): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(openStream(ring, cut(sealed, piece), context)));
}

/** The header, then chunks. */
function split(sealed: Buffer, plainLength: number): { header: Buffer; chunks: Buffer[] } {
  const count = Math.max(1, Math.ceil(plainLength / CHUNK_BYTES));
  const headerLength = sealed.length - plainLength - count * 16;
  const chunks: Buffer[] = [];
  for (let first = headerLength; first < sealed.length; first += SEALED_CHUNK)
    chunks.push(sealed.subarray(first, first + SEALED_CHUNK));
  return { header: sealed.subarray(0, headerLength), chunks };
}

test('opens what it sealed, however it is cut on the way', async () => {
  await fc.assert(
    fc.asyncProperty(sizes, fc.integer({ min: 1_000, max: 200_000 }), async (size, piece) => {
      const plain = randomBytes(size);
      const sealed = await seal(plain, piece);
      expect((await open(sealed, 200_001 - piece)).equals(plain)).toBe(true);
    }),
    { numRuns: 30 },
  );
});

test('a stream that ends anywhere else than it did is refused', async () => {
  await fc.assert(
    fc.asyncProperty(sizes, fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }), async (size, place) => {
      const sealed = await seal(randomBytes(size));
      await expect(open(sealed.subarray(0, Math.floor(sealed.length * place)))).rejects.toThrow(SealError);
    }),
    { numRuns: 30 },
  );
  const whole = await seal(randomBytes(3 * CHUNK_BYTES));
  const { header, chunks } = split(whole, 3 * CHUNK_BYTES);
  for (let kept = 0; kept < chunks.length; kept += 1)
    await expect(open(Buffer.concat([header, ...chunks.slice(0, kept)]))).rejects.toThrow(SealError);
  await expect(open(Buffer.concat([whole, Buffer.from('more')]))).rejects.toThrow(SealError);
});

test('any changed byte is noticed', async () => {
  const sealed = await seal(randomBytes(CHUNK_BYTES + 10));
  await fc.assert(
    fc.asyncProperty(fc.nat(sealed.length - 1), fc.integer({ min: 1, max: 255 }), async (place, flip) => {
      const changed = Buffer.from(sealed);
      changed.writeUInt8(changed.readUInt8(place) ^ flip, place);
      await expect(open(changed)).rejects.toThrow(SealError);
    }),
    { numRuns: 60 },
  );
});

test('chunks cannot be swapped, doubled, left out, or taken from another stream', async () => {
  const size = 4 * CHUNK_BYTES + 5;
  const { header, chunks } = split(await seal(randomBytes(size)), size);
  const foreign = split(await seal(randomBytes(size)), size);
  await fc.assert(
    fc.asyncProperty(fc.nat(4), fc.nat(4), async (one, other) => {
      const swapped = chunks.with(one, chunks[other] ?? header).with(other, chunks[one] ?? header);
      if (one !== other) await expect(open(Buffer.concat([header, ...swapped]))).rejects.toThrow(SealError);
      await expect(open(Buffer.concat([header, ...chunks.toSpliced(one, 1)]))).rejects.toThrow(SealError);
      await expect(open(Buffer.concat([header, ...chunks.toSpliced(one, 0, chunks[one] ?? header)]))).rejects.toThrow(
        SealError,
      );
      const spliced = chunks.with(one, foreign.chunks[one] ?? header);
      await expect(open(Buffer.concat([header, ...spliced]))).rejects.toThrow(SealError);
    }),
    { numRuns: 25 },
  );
  await expect(open(Buffer.concat([foreign.header, ...chunks]))).rejects.toThrow(SealError);
});

test('it opens for its own context and with its own key alone, whose id is in the header', async () => {
  const sealed = await seal(Buffer.from('text'));
  expect(sealed.includes('key-one')).toBe(true);
  await expect(open(sealed, 10_000, 'artifact b')).rejects.toThrow(SealError);
  const stranger = createKeyRing([{ id: 'other', key: randomBytes(KEY_BYTES) }]);
  await expect(Array.fromAsync(openStream(stranger, cut(sealed, 100), CONTEXT))).rejects.toThrow('key-one');
});
