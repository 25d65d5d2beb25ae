import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openResultSink } from './result-file.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'batchgate-results-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

const NOWHERE = { write: () => true };

test('a file appears whole, in place of an older one', async () => {
  const path = join(directory, 'out.jsonl');
  writeFileSync(path, 'old');
  const sink = await openResultSink(path, NOWHERE);
  await sink.write('a\n');
  expect(readFileSync(path, 'utf8')).toBe('old');
  await sink.write('b\n');
  await sink.finish();
  expect(readFileSync(path, 'utf8')).toBe('a\nb\n');
  expect(readdirSync(directory)).toEqual(['out.jsonl']);
});

test('nothing is left of one that is discarded', async () => {
  const sink = await openResultSink(join(directory, 'out.jsonl'), NOWHERE);
  await sink.write('a\n');
  await sink.discard();
  expect(readdirSync(directory)).toEqual([]);
});

test('- is standard output', async () => {
  let written = '';
  const sink = await openResultSink('-', {
    write: (text) => {
      written += text;
    },
  });
  await sink.write('a\n');
  await sink.finish();
  expect(written).toBe('a\n');
});

test('a device is written into and stays one', async () => {
  const sink = await openResultSink('/dev/null', NOWHERE);
  await sink.write('a\n');
  await sink.finish();
  expect(statSync('/dev/null').isCharacterDevice()).toBe(true);
});

test('says what is wrong with a path', async () => {
  await expect(openResultSink(directory, NOWHERE)).rejects.toThrow('is a folder; name a file');
  await expect(openResultSink(join(directory, 'no', 'out'), NOWHERE)).rejects.toThrow('cannot be written (ENOENT)');
});
