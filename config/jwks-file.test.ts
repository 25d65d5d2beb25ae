import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readJwksFile } from './jwks-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'batchgate-jwks-'));
afterAll(() => rmSync(folder, { recursive: true }));

const RSA = { kty: 'RSA', kid: 'k1', use: 'sig', n: 'AQAB', e: 'AQAB' };

function file(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

test('reads the RSA keys of a key set and leaves others out', () => {
  const path = file('keys.json', JSON.stringify({ keys: [RSA, { kty: 'EC', kid: 'k2' }, { kty: 'RSA' }] }));
  expect(readJwksFile(path)).toEqual({ keys: [RSA] });
});

test.each([
  ['no JSON', 'not a readable JSON file'],
  ['{"keys":[]}', 'holds no RSA keys'],
  ['{"keys":[{"kty":"oct","k":"c2VjcmV0"}]}', 'holds no RSA keys'],
  [JSON.stringify(RSA), 'holds no RSA keys'],
])('refuses %s and names the file', (content, message) => {
  const path = file('broken.json', content);
  expect(() => readJwksFile(path)).toThrow(`${path} `);
  expect(() => readJwksFile(path)).toThrow(message);
});

test('refuses a file that is not there', () => {
  expect(() => readJwksFile(join(folder, 'none.json'))).toThrow('not a readable JSON file');
});
