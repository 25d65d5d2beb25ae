import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SealError } from './cipher.ts';
import { createKeyRing } from './key-ring.ts';

const old = { id: 'old', key: randomBytes(32) };
const fresh = { id: '2026-12', key: randomBytes(32) };

test('opens what it sealed, for the same context alone', async () => {
  const ring = createKeyRing([fresh, old]);
  await fc.assert(
    fc.asyncProperty(fc.uint8Array(), fc.string(), fc.string(), async (plain, context, other) => {
      const sealed = await ring.seal(plain, context);
      expect(Buffer.from(await ring.open(sealed, context))).toEqual(Buffer.from(plain));
      if (other !== context) await expect(ring.open(sealed, other)).rejects.toThrow(SealError);
    }),
  );
});

test('any changed byte is noticed', async () => {
  const ring = createKeyRing([fresh]);
  const sealed = await ring.seal(Buffer.from('a provider’s key'), 'credential');
  for (let place = 0; place < sealed.length; place += 1) {
    const changed = Buffer.from(sealed);
    changed.writeUInt8(changed.readUInt8(place) ^ 1, place);
    await expect(ring.open(changed, 'credential')).rejects.toThrow(SealError);
  }
});

test('a new key in front seals, and the old one still opens what it sealed', async () => {
  const before = await createKeyRing([old]).seal(Buffer.from('text'), 'row');
  const ring = createKeyRing([fresh, old]);
  expect(ring.keyIdOf(before)).toBe('old');
  expect((await ring.open(before, 'row')).toString()).toBe('text');
  const after = await ring.seal(Buffer.from('text'), 'row');
  expect(ring.keyIdOf(after)).toBe(ring.currentKeyId);
  await expect(createKeyRing([old]).open(after, 'row')).rejects.toThrow('2026-12');
});

test('the same text is never the same bytes, and shows nowhere in them', async () => {
  const ring = createKeyRing([fresh]);
  const plain = Buffer.from('sk-a-secret-that-is-long-enough');
  const sealed = await Promise.all(Array.from({ length: 100 }, () => ring.seal(plain, 'row')));
  expect(new Set(sealed.map((bytes) => bytes.toString('hex'))).size).toBe(100);
  expect(sealed.some((bytes) => bytes.includes(plain))).toBe(false);
});

test('bytes cut short are refused', async () => {
  const ring = createKeyRing([fresh]);
  const sealed = await ring.seal(Buffer.from('text'), 'row');
  for (let length = 0; length < sealed.length; length += 1)
    await expect(ring.open(sealed.subarray(0, length), 'row')).rejects.toThrow(SealError);
});
