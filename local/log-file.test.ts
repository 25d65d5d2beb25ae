import { closeSync, existsSync, mkdtempSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { lastLines, openLog } from './log-file.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'batchgate-log-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

test('appends to a log whose folder does not exist yet and reads its last lines', () => {
  const path = join(directory, 'logs', 'api.log');
  for (const text of ['one\ntwo\n', 'three\n\nfour\n']) {
    const file = openLog(path);
    writeSync(file, text);
    closeSync(file);
  }
  expect(lastLines(path, 3)).toEqual(['two', 'three', 'four']);
});

test('reads only the end of a long log', () => {
  const path = join(directory, 'long.log');
  writeFileSync(path, `${'x'.repeat(100_000)}\nlast\n`);
  expect(lastLines(path, 1)).toEqual(['last']);
});

test('sets a log over the size limit aside', () => {
  const path = join(directory, 'big.log');
  writeFileSync(path, Buffer.alloc(21 * 1024 * 1024));
  closeSync(openLog(path));
  expect(statSync(path).size).toBe(0);
  expect(existsSync(`${path}.1`)).toBe(true);
});

test('has no lines for a log that does not exist', () => {
  expect(lastLines(join(directory, 'none.log'), 5)).toEqual([]);
});
