import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { createCipher } from './create-cipher.ts';

test('the first of the keys seals', async () => {
  const [fresh, old] = ['fresh', 'old'].map((id) => ({ id, key: randomBytes(32) }));
  if (fresh === undefined || old === undefined) throw new Error('unreachable');
  const cipher = createCipher([fresh, old]);
  expect(cipher.keyIdOf(await cipher.seal(Buffer.from('x'), 'row'))).toBe('fresh');
});

test('without keys every use is refused, with what to set', async () => {
  const cipher = createCipher([]);
  const refusal = { code: 'encryption_not_configured', message: expect.stringContaining('BATCHGATE_ENCRYPTION_KEYS') };
  await expect(cipher.seal(Buffer.from('x'), 'row')).rejects.toMatchObject(refusal);
  await expect(cipher.open(Buffer.from('x'), 'row')).rejects.toMatchObject(refusal);
  expect(() => cipher.keyIdOf(Buffer.from('x'))).toThrow(expect.objectContaining(refusal));
  expect(() => cipher.currentKeyId).toThrow(expect.objectContaining(refusal));
});
