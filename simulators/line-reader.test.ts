import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readLines, UNREADABLE } from './line-reader.ts';

async function linesOf(content: string | Buffer): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'lines-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, 'file');
  await writeFile(path, content);
  return (await Array.fromAsync(readLines(path))).flat();
}

test.for([
  { content: '', lines: [] },
  { content: 'a', lines: ['a'] },
  { content: 'a\n', lines: ['a'] },
  { content: 'a\r\nb\r\n', lines: ['a', 'b'] },
  { content: 'a\n\nb', lines: ['a', '', 'b'] },
  { content: 'a\u2028b\u0085c\n\vd\f', lines: ['a\u2028b\u0085c', '\vd\f'] },
])('splits $content at line feeds alone', async ({ content, lines }) => {
  expect(await linesOf(content)).toEqual(lines);
});

test('gives lines longer than a block, and characters cut by its end, whole', async () => {
  const long = 'é😀'.repeat(200_000);
  expect(await linesOf(`first\n${long}\nlast`)).toEqual(['first', long, 'last']);
});

test('marks a line that is not UTF-8 and keeps its neighbours', async () => {
  const content = Buffer.concat([Buffer.from('é one\n'), Buffer.from([0x22, 0xff, 0x22]), Buffer.from('\nthree')]);
  expect(await linesOf(content)).toEqual(['é one', UNREADABLE, 'three']);
});
