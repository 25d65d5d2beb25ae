import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { GatewayError } from '../../domain/gateway-error.ts';
import { type BodyEncoding, type BodyLimits, readBody } from './body-stream.ts';

const LIMITS: BodyLimits = { maxBodyBytes: 64 * 1024 * 1024, maxGzipRatio: 200 };
const PLAIN: BodyEncoding = { detectGzip: false };
const GZIP: BodyEncoding = { contentEncoding: 'gzip', detectGzip: false };
const TEXT = '{"custom_id":"a"}\n{"custom_id":"é😀"}\n';

function streamOf(bytes: Uint8Array, chunkBytes: number): Readable {
  const chunks: Uint8Array[] = [];
  for (let start = 0; start < bytes.length; start += chunkBytes) chunks.push(bytes.subarray(start, start + chunkBytes));
  return Readable.from(chunks);
}

async function read(
  bytes: Uint8Array,
  encoding: BodyEncoding,
  chunkBytes = 64 * 1024,
  limits = LIMITS,
): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(readBody(streamOf(bytes, chunkBytes), encoding, limits)));
}

async function refusal(bytes: Uint8Array, encoding: BodyEncoding, limits = LIMITS): Promise<GatewayError> {
  const error = await read(bytes, encoding, 64 * 1024, limits).catch((thrown: unknown) => thrown);
  if (!(error instanceof GatewayError)) throw new Error('the body was not refused', { cause: error });
  return error;
}

const gzipped = gzipSync(TEXT);
const truncated = gzipped.subarray(0, gzipped.length - 9);
const damaged = Buffer.from(gzipped);
damaged[damaged.length - 6] = (damaged.at(-6) ?? 0) ^ 1;

test.each([
  ['plain', Buffer.from(TEXT), PLAIN],
  ['plain under the name identity', Buffer.from(TEXT), { contentEncoding: 'identity', detectGzip: false }],
  ['gzip by its header', gzipped, GZIP],
  ['gzip by the name x-gzip in capitals', gzipped, { contentEncoding: ' X-GZIP ', detectGzip: false }],
  ['a gzip file without a header', gzipped, { detectGzip: true }],
  ['gzip in two members', Buffer.concat([gzipSync(TEXT.slice(0, 10)), gzipSync(TEXT.slice(10))]), GZIP],
  ['UTF-8 with a byte order mark', Buffer.from(`\uFEFF${TEXT}`), PLAIN],
  ['gzip of UTF-8 with a byte order mark', gzipSync(`\uFEFF${TEXT}`), GZIP],
])('I-04: a body that is %s comes out as the same bytes in any chunking', async (_name, bytes, encoding) => {
  for (const chunkBytes of [1, 3, 64, 64 * 1024]) {
    expect((await read(bytes, encoding, chunkBytes)).toString()).toBe(TEXT);
  }
});

test.each([
  ['UTF-16 with a little-endian mark', Buffer.from(`\uFEFF${TEXT}`, 'utf16le'), PLAIN, 'UTF-16'],
  ['UTF-16 with a big-endian mark', Buffer.from(`\uFEFF${TEXT}`, 'utf16le').swap16(), PLAIN, 'UTF-16'],
  ['UTF-16 without a mark', Buffer.from(TEXT, 'utf16le'), PLAIN, 'UTF-16'],
  ['big-endian UTF-16 without a mark', Buffer.from(TEXT, 'utf16le').swap16(), PLAIN, 'UTF-16'],
  ['UTF-32 with a mark', Buffer.from([0xff, 0xfe, 0, 0, 0x7b, 0, 0, 0]), PLAIN, 'UTF-32'],
  ['UTF-32 without a mark', Buffer.from([0x7b, 0, 0, 0]), PLAIN, 'UTF-32'],
  ['UTF-16 inside gzip', gzipSync(Buffer.from(`\uFEFF${TEXT}`, 'utf16le')), GZIP, 'UTF-16'],
  ['gzip without a header', gzipped, PLAIN, 'Content-Encoding: gzip'],
  ['gzip of gzip', gzipSync(gzipped), GZIP, 'twice'],
  ['gzip of gzip without a header', gzipSync(gzipped), { detectGzip: true }, 'twice'],
  ['truncated gzip', truncated, GZIP, 'truncated'],
  ['truncated gzip without a header', truncated, { detectGzip: true }, 'truncated'],
  ['gzip with a wrong checksum', damaged, GZIP, 'damaged'],
  ['gzip with other bytes after it', Buffer.concat([gzipped, Buffer.from(TEXT)]), GZIP, 'damaged'],
  ['no gzip at all', Buffer.from(TEXT), GZIP, 'not valid gzip'],
  ['empty although its header says gzip', Buffer.alloc(0), GZIP, 'empty'],
])('I-06: a body that is %s is refused by name', async (_name, bytes, encoding, word) => {
  const error = await refusal(bytes, encoding);
  expect(error.code).toBe('body_encoding');
  expect(error.message).toContain(word);
});

test('a Content-Encoding that is not known is refused as an unsupported media type', async () => {
  expect(await refusal(Buffer.from(TEXT), { contentEncoding: 'br', detectGzip: false })).toMatchObject({
    code: 'unsupported_media_type',
    message: expect.stringContaining('"br"'),
  });
});

test('a body over the limit is refused, before and after decompression alike', async () => {
  const limits = { ...LIMITS, maxBodyBytes: 20 };
  for (const [bytes, encoding] of [
    [Buffer.from(TEXT), PLAIN],
    [gzipped, GZIP],
  ] as const) {
    const error = await refusal(bytes, encoding, limits);
    expect(error).toMatchObject({ code: 'request_too_large', message: expect.stringContaining('20 bytes') });
  }
  expect((await read(Buffer.from(TEXT.slice(0, 20)), PLAIN, 7, limits)).length).toBe(20);
});

test('a gzip bomb is refused by its ratio long before its end', async () => {
  let read = 0;
  const bomb = gzipSync(Buffer.alloc(60 * 1024 * 1024, 32));
  const error = await (async () => {
    for await (const chunk of readBody(streamOf(bomb, 4096), GZIP, LIMITS)) read += chunk.length;
  })().catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'request_too_large', message: expect.stringContaining('200 times') });
  expect(read).toBeLessThan(20 * 1024 * 1024);
});

test('a stream that breaks off is a refusal of the request, not a failure of the server', async () => {
  for (const encoding of [PLAIN, GZIP]) {
    const stream = new Readable({ read() {} });
    stream.push(encoding === GZIP ? gzipped.subarray(0, 12) : TEXT);
    setImmediate(() => stream.destroy(new Error('aborted')));
    const error = await Array.fromAsync(readBody(stream, encoding, LIMITS)).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'invalid_request', message: expect.stringContaining('broke off') });
  }
});

test('the stream is left open for the answer when its body is refused', async () => {
  const bytes = Buffer.from(TEXT, 'utf16le');
  const stream = new Readable({ read() {} });
  for (let part = 0; part < 1000; part += 1) stream.push(bytes);
  await expect(Array.fromAsync(readBody(stream, PLAIN, LIMITS))).rejects.toThrow('UTF-16');
  expect(stream.destroyed).toBe(false);
});

test('chunks are even whatever those of the stream are', async () => {
  const bytes = Buffer.alloc(1024 * 1024, 'x');
  for (const chunkBytes of [100, 1024 * 1024]) {
    const sizes = (await Array.fromAsync(readBody(streamOf(bytes, chunkBytes), PLAIN, LIMITS))).map((c) => c.length);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(256 * 1024);
    expect(Math.min(...sizes.slice(0, -1))).toBeGreaterThanOrEqual(16 * 1024);
  }
});

test('property: whatever is compressed, in however many members, comes out as it was', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.uint8Array({ maxLength: 3_000 }), { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 1, max: 500 }),
      async (members, chunkBytes) => {
        const text = Buffer.concat([Buffer.from('{"a":1}\n'), ...members]);
        const zipped = Buffer.concat([gzipSync('{"a":1}\n'), ...members.map((member) => gzipSync(member))]);
        expect(await read(zipped, GZIP, chunkBytes)).toEqual(text);
      },
    ),
    { numRuns: 50 },
  );
});

test('property: what follows the last member is either a member or refused, and never taken for content', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 200 }), async (rest) => {
      const bytes = Buffer.concat([gzipped, rest]);
      const outcome = await read(bytes, GZIP).catch((error: unknown) => error);
      if (outcome instanceof Buffer) expect(outcome.toString()).toBe(TEXT);
      else expect(outcome).toMatchObject({ code: 'body_encoding' });
    }),
  );
});

test('property: a bomb of one or many members never yields more than its ratio or the absolute bound allows', async () => {
  const mib = 1024 * 1024;
  const bomb = gzipSync('x'.repeat(8 * mib));
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 3, max: 40 }), fc.integer({ min: 2, max: 64 }), async (members, maxMib) => {
      const limits = { maxGzipRatio: 200, maxBodyBytes: maxMib * mib };
      const body = streamOf(Buffer.concat(Array.from({ length: members }, () => bomb)), 16 * 1024);
      let bytes = 0;
      const reading = (async () => {
        for await (const chunk of readBody(body, GZIP, limits)) bytes += chunk.length;
      })();
      await expect(reading).rejects.toMatchObject({ code: 'request_too_large' });
      // The ratio is looked at beyond 16 MiB, after each chunk of at most 256 KiB.
      expect(bytes).toBeLessThanOrEqual(Math.min(maxMib, 17) * mib);
    }),
    { numRuns: 15 },
  );
});
