import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type JsonlLine, splitLineBatches, splitLines } from './jsonl.ts';

async function* inChunks(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function split(input: string | Buffer, size = 1 << 20, maxLineBytes = 1000): Promise<JsonlLine[]> {
  const lines: JsonlLine[] = [];
  for await (const line of splitLines(inChunks(Buffer.from(input), size), { maxLineBytes })) lines.push(line);
  return lines;
}

const textOf = ({ line, text }: JsonlLine) => [line, text];

test.each([1, 2, 3, 7, 64, 1 << 20])('splits on LF and drops one CR before it, in chunks of %i bytes', async (size) => {
  const lines = await split('{"a":1}\r\n{"b":2}\n{"c":3}\r\r\n{"d":4}', size);
  expect(lines.map(textOf)).toEqual([
    [1, '{"a":1}'],
    [2, '{"b":2}'],
    [3, '{"c":3}\r'],
    [4, '{"d":4}'],
  ]);
});

test.each(['', '\n', '\n\n', '\n \n', '\r\n', '\r\n\r\n'])('reads three lines before the ending %j', async (ending) => {
  expect(await split(`1\n2\n3${ending}`)).toHaveLength(3);
});

test('counts blank lines without yielding them', async () => {
  expect((await split('1\n\n \t\r\n2\n')).map(textOf)).toEqual([
    [1, '1'],
    [4, '2'],
  ]);
});

test.each(['\u2028', '\u2029', '\u0085', '\u000b', '\u000c'])('keeps %j inside a line', async (separator) => {
  expect((await split(`a${separator}b\nc\n`, 1)).map(textOf)).toEqual([
    [1, `a${separator}b`],
    [2, 'c'],
  ]);
});

test.each([1, 2, 100])('strips a byte order mark from the start of the file only, in chunks of %i', async (size) => {
  expect((await split('\uFEFFa\n\uFEFFb\n', size)).map(textOf)).toEqual([
    [1, 'a'],
    [2, '\uFEFFb'],
  ]);
});

test.each([1, 100])(
  'gives a line that is not UTF-8 as bytes, and its neighbours as text, in chunks of %i',
  async (size) => {
    const bad = Buffer.from([0x22, 0xc3, 0x28, 0x22]);
    const lines = await split(Buffer.concat([Buffer.from('a\n'), bad, Buffer.from('\nb\n')]), size);
    expect(lines.map(textOf)).toEqual([
      [1, 'a'],
      [2, null],
      [3, 'b'],
    ]);
    expect(lines[1]?.bytes).toEqual(bad);
    expect(lines[1]?.isTooLong).toBe(false);
  },
);

test('gives a last line cut in the middle of a character as bytes', async () => {
  const lines = await split(Buffer.from('a\n😀').subarray(0, 4));
  expect(lines.map(textOf)).toEqual([
    [1, 'a'],
    [2, null],
  ]);
});

test.each([1, 7, 1000])('cuts a line that is too long and goes on behind it, in chunks of %i', async (size) => {
  const lines = await split(`${'x'.repeat(10)}\r\n${'y'.repeat(11)}\n${' '.repeat(50)}z\nw\n`, size, 10);
  expect(lines.map(({ line, text, isTooLong }) => [line, text, isTooLong])).toEqual([
    [1, 'x'.repeat(10), false],
    [2, null, true],
    [3, null, true],
    [4, 'w', false],
  ]);
  expect(lines[1]?.bytes.toString()).toBe('y'.repeat(10));
});

test('gives the same lines however the bytes are cut', async () => {
  const part = fc.constantFrom('\n', '\r', '\r\n', ' ', 'a', '{"k":"é😀"}', '\u2028', '\uFEFF', 'long '.repeat(5));
  await fc.assert(
    fc.asyncProperty(fc.array(part, { maxLength: 30 }), fc.integer({ min: 1, max: 9 }), async (parts, size) => {
      const input = Buffer.concat([...parts.map((text) => Buffer.from(text)), Buffer.from([0xff])]);
      expect(await split(input, size, 20)).toEqual(await split(input, input.length, 20));
    }),
    { numRuns: 300 },
  );
});

test('yields one array of lines for a chunk, none for a chunk that ends no line', async () => {
  const sizes: number[] = [];
  async function* source() {
    for (const text of ['1\n2\n3', '4', '5\n', '6']) yield Buffer.from(text);
  }
  for await (const lines of splitLineBatches(source(), { maxLineBytes: 100 })) sizes.push(lines.length);
  expect(sizes).toEqual([2, 1, 1]);
});

test('keeps no reference to a chunk the source uses again', async () => {
  const chunk = Buffer.from('ab');
  async function* source() {
    yield chunk;
    chunk.write('cd');
    yield Buffer.from('\n');
  }
  for await (const line of splitLines(source(), { maxLineBytes: 100 })) expect(line.text).toBe('ab');
});
