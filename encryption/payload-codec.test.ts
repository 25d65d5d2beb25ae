import { randomBytes } from 'node:crypto';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { expect, test } from 'vitest';
import { createCipher } from './create-cipher.ts';
import { createKeyRing, KEY_BYTES } from './key-ring.ts';
import { createPayloadCodec } from './payload-codec.ts';

const key = (id: string) => ({ id, key: randomBytes(KEY_BYTES) });
const [old, fresh] = [key('old'), key('fresh')];
const ring = createKeyRing([fresh, old]);
const codec = createPayloadCodec(ring, { encodes: true });
const VALUE = { jobId: 'job_01planted', items: [1, null, 'ü'] };
const plain = defaultPayloadConverter.toPayload(VALUE);

function read([payload]: Payload[]): unknown {
  if (payload === undefined) throw new Error('no payload');
  return defaultPayloadConverter.fromPayload(payload);
}

test('what was sealed is read again, names its key, and shows nothing of what it holds', async () => {
  const [sealed] = await codec.encode([plain]);
  const bytes = Buffer.from(sealed?.data ?? []);
  expect(Buffer.from(sealed?.metadata?.['encoding'] ?? []).toString()).toBe('binary/encrypted');
  expect(Buffer.from(sealed?.metadata?.['encryption-key-id'] ?? []).toString()).toBe('fresh');
  expect(bytes.includes('job_01planted')).toBe(false);
  expect(bytes.includes(Buffer.from('job_01planted').toString('base64').slice(0, 12))).toBe(false);
  expect(read(await codec.decode([sealed ?? {}]))).toEqual(VALUE);
});

test('it may be switched on, off, and a key be put in front, while payloads of before are still read', async () => {
  const off = createPayloadCodec(ring, { encodes: false });
  expect(await off.encode([plain])).toEqual([plain]);
  const sealedBefore = await createPayloadCodec(createKeyRing([old]), { encodes: true }).encode([plain]);
  for (const reader of [codec, off]) {
    expect(read(await reader.decode([plain]))).toEqual(VALUE);
    expect(read(await reader.decode(sealedBefore))).toEqual(VALUE);
  }
  // An end to end tool may have sealed it already.
  expect(await codec.encode(sealedBefore)).toEqual(sealedBefore);
});

test('an empty payload comes back empty, also one as the SDK decodes it', async () => {
  const decoded = { metadata: { encoding: Buffer.from('binary/null') }, data: [] as unknown as Uint8Array };
  const [back] = await codec.decode(await codec.encode([decoded]));
  expect(Buffer.from(back?.data ?? [1])).toHaveLength(0);
  const sealed = await codec.encode([defaultPayloadConverter.toPayload(undefined)]);
  expect(read(await codec.decode(sealed))).toBeUndefined();
});

test('without the key it says which one is missing, and without any what to set', async () => {
  const sealed = await codec.encode([plain]);
  const keyless = createPayloadCodec(createCipher([]), { encodes: false });
  await expect(createPayloadCodec(createKeyRing([old]), { encodes: true }).decode(sealed)).rejects.toThrow(
    'sealed by the key fresh, which is not configured',
  );
  await expect(keyless.decode(sealed)).rejects.toThrow('BATCHGATE_ENCRYPTION_KEYS');
  expect(await keyless.decode([plain])).toEqual([plain]);
});
