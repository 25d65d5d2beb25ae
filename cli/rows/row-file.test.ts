import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openRowFile } from './row-file.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'batchgate-rows-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

async function* bytes(text: string): AsyncGenerator<Uint8Array> {
  if (text !== '') yield Buffer.from(text);
}

async function read(name: string, text: string) {
  const path = join(directory, name);
  writeFileSync(path, text);
  const { first, rows } = await openRowFile(path, bytes(''));
  const all = await Array.fromAsync(rows);
  expect(all[0] ?? null).toEqual(first);
  return all.map(({ value }) => value);
}

test.each([
  ['a.csv', 'x\n{\n'],
  ['a.CSV', 'x\n{\n'],
  ['a.tsv', 'x\n{\n'],
  ['a.txt', 'x\n{\n'],
])('reads %s as a table', async (name, text) => {
  expect(await read(name, text)).toEqual([{ x: '{' }]);
});

test.each(['a.jsonl', 'a.ndjson', 'a.json', 'a.txt', 'a'])('reads %s as JSON Lines', async (name) => {
  expect(await read(name, '{"x":1}\n{"x":2}\n')).toEqual([{ x: 1 }, { x: 2 }]);
});

test('a file without a row has no first row', async () => {
  expect(await read('a.csv', '')).toEqual([]);
  expect(await read('a.jsonl', '\n\n')).toEqual([]);
});

test('reads standard input by its first character', async () => {
  const { file, rows } = await openRowFile('-', bytes('\uFEFF {"x":1}\n'));
  expect(file).toBe('standard input');
  expect((await Array.fromAsync(rows)).map(({ value }) => value)).toEqual([{ x: 1 }]);
});

test('says what is wrong with a path', async () => {
  await expect(openRowFile(join(directory, 'none.csv'), bytes(''))).rejects.toThrow('none.csv: there is no such file');
  await expect(openRowFile(directory, bytes(''))).rejects.toThrow('this is a folder, not a file');
});
