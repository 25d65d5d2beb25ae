import { expect, test } from 'vitest';
import { ROLES } from '../domain/principal.ts';
import { generateKey, hashKey, isKey } from './secret-key.ts';

test.each(ROLES)('makes a key for %s that is one word, never the same, and begins with what may be shown', (role) => {
  const { key, prefix } = generateKey(role);
  expect(isKey(key)).toBe(true);
  expect(key).toMatch(/^bg_[a-z]+_[0-9A-Za-z]{43}$/);
  expect(key.startsWith(prefix)).toBe(true);
  expect(key.length - prefix.length).toBe(39);
  expect(generateKey(role).key).not.toBe(key);
});

test.each(['', 'bg_tenant_', 'sk-0123456789', 'bg_tenant_x y', `bg_tenant_${'a'.repeat(44)}`])(
  '%j is no key',
  (text) => {
    expect(isKey(text)).toBe(false);
  },
);

test('stores SHA-256 of the whole key', () => {
  expect(hashKey('abc').toString('hex')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
});
