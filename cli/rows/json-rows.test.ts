import { expect, test } from 'vitest';
import { readJsonRows } from './json-rows.ts';

async function* pieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}

async function read(text: string | Uint8Array, size = 5) {
  return await Array.fromAsync(readJsonRows(pieces(Buffer.from(text), size), 'in.jsonl'));
}

test.each([1, 7, 1000])('splits at line feeds alone, in pieces of %i bytes', async (size) => {
  const text = '\uFEFF{"t":"a\u2028b\u2029c\u0085d"}\r\n\n  \n{"t":"ö"}';
  expect((await read(text, size)).map(({ line, value }) => [line, value])).toEqual([
    [1, { t: 'a\u2028b\u2029c\u0085d' }],
    [4, { t: 'ö' }],
  ]);
});

test('keeps the text of a line as it was', async () => {
  expect((await read('{"n":12345678901234567890}\n'))[0]?.text).toBe('{"n":12345678901234567890}');
});

test.each([
  ['{"a":1}\n{"a":\n', 'in.jsonl, line 2: not valid JSON'],
  ['{"a":1}\n"text"\n', 'in.jsonl, line 2: a JSON object is needed on each line, this is "text"'],
  ['null\n', 'in.jsonl, line 1: a JSON object is needed on each line, this is null'],
  ['[{"a":1},\n{"a":2}]\n', 'in.jsonl, line 1: this is a JSON array'],
  ['[{"a":1}]\n', 'in.jsonl, line 1: this is a JSON array'],
])('refuses %j and names the line', async (text, message) => {
  await expect(read(text)).rejects.toThrow(message);
});

test('refuses a line that is not UTF-8', async () => {
  await expect(read(Buffer.from('{"a":"b"}\n{"a":"\xfc"}\n', 'latin1'))).rejects.toThrow(
    'in.jsonl, line 2: not valid UTF-8',
  );
});

test('refuses a line without end before it fills the memory', async () => {
  async function* endless() {
    for (;;) yield Buffer.alloc(1024 * 1024, 'x');
  }
  await expect(Array.fromAsync(readJsonRows(endless(), 'in.jsonl'))).rejects.toThrow('longer than 64 MiB');
});
