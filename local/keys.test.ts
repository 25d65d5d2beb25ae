import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { forgetKeys, readKeys, saveKeys } from './keys.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'batchgate-keys-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

const KEYS = { adminKey: 'a', operatorKey: 'o', tenantKey: 't' };

test('keeps keys for the owner alone until they are forgotten', () => {
  expect(readKeys(directory)).toBeUndefined();
  saveKeys(directory, { ...KEYS, tenantKey: 'old' });
  saveKeys(directory, KEYS);
  expect(readKeys(directory)).toEqual(KEYS);
  expect(statSync(join(directory, 'keys.json')).mode & 0o777).toBe(0o600);
  forgetKeys(directory);
  expect(readKeys(directory)).toBeUndefined();
});

test.each(['{"adminKey":', '{"adminKey":"a","operatorKey":"o"}', ''])(
  'has no keys when the file holds %j',
  (content) => {
    writeFileSync(join(directory, 'keys.json'), content);
    expect(readKeys(directory)).toBeUndefined();
  },
);
