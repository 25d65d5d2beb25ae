import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readApiConfig } from '../config/env.ts';
import { encryptionKeys } from './encryption-keys.ts';

function dataDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'batchgate-keys-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return directory;
}

test('a key is made once for a data folder, for its owner alone, and in the form the gateway reads', () => {
  const directory = dataDirectory();
  const made = encryptionKeys({ environment: {}, dataDirectory: directory });
  expect(encryptionKeys({ environment: {}, dataDirectory: directory })).toBe(made);
  expect(encryptionKeys({ environment: {}, dataDirectory: dataDirectory() })).not.toBe(made);
  expect(statSync(join(directory, 'encryption-keys')).mode & 0o077).toBe(0);
  const { encryptionKeys: read } = readApiConfig({ DATABASE_URL: 'postgres://x/x', BATCHGATE_ENCRYPTION_KEYS: made });
  expect(read).toEqual([{ id: 'local', key: expect.any(Buffer) }]);
});

test('keys of the environment come first', () => {
  const environment = { BATCHGATE_ENCRYPTION_KEYS: 'mine:x' };
  expect(encryptionKeys({ environment, dataDirectory: dataDirectory() })).toBe('mine:x');
});
