import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type ItemTexts, isBlank, splitLines } from './lines.ts';

const MAX_LINE_BYTES = 1024;

async function* cut(bytes: Buffer, chunkBytes: number): AsyncGenerator<Buffer> {
  for (let start = 0; start < bytes.length; start += chunkBytes) yield bytes.subarray(start, start + chunkBytes);
}

async function split(bytes: Buffer, chunkBytes = 64, maxLineBytes = MAX_LINE_BYTES): Promise<ItemTexts> {
  const batches = await Array.fromAsync(splitLines(cut(bytes, chunkBytes), maxLineBytes));
  let next = 1;
  for (const { firstPosition, texts } of batches) {
    expect(firstPosition).toBe(next);
    next += texts.length;
  }
  return {
    firstPosition: 1,
    texts: batches.flatMap(({ texts }) => texts),
    faults: batches.flatMap(({ faults }) => faults).toSorted((a, b) => a.position - b.position),
  };
}

async function items(text: string): Promise<[number, string][]> {
  const { texts } = await split(Buffer.from(text), 7);
  return texts.flatMap((line, index): [number, string][] => (isBlank(line) ? [] : [[index + 1, line]]));
}

const THREE: [number, string][] = [
  [1, '{"a":1}'],
  [2, '{"b":2}'],
  [3, '{"c":3}'],
];

test.each([
  ['nothing', ''],
  ['a line end', '\n'],
  ['two line ends', '\n\n'],
  ['a line of one space', '\n \n'],
  ['CRLF', '\r\n'],
  ['CRLF twice', '\r\n\r\n'],
  ['white space without a line end', '\n \t '],
  ['a lone CR', '\n\r'],
])('I-04: three lines that end in %s are three items', async (_name, ending) => {
  expect(await items(`${THREE.map(([, text]) => text).join('\n')}${ending}`)).toEqual(THREE);
  expect(await items(`${THREE.map(([, text]) => text).join('\r\n')}${ending}`)).toEqual(THREE);
});

test('I-04: a blank line in the middle is no item, but counts as a line', async () => {
  expect(await items('{"a":1}\n\n{"b":2}\n \t\n{"c":3}\n')).toEqual([
    [1, '{"a":1}'],
    [3, '{"b":2}'],
    [5, '{"c":3}'],
  ]);
});

test.each([
  ['U+2028', '\u2028'],
  ['U+2029', '\u2029'],
  ['U+0085', '\u0085'],
  ['VT', '\v'],
  ['FF', '\f'],
  ['a CR in the middle', '\r'],
  ['a byte order mark in the middle', '\uFEFF'],
])('I-06: %s does not end a line and stays in its text', async (_name, character) => {
  const line = `{"text":"before${character}after"}`;
  expect((await split(Buffer.from(`${line}\n${line}\n`), 5)).texts).toEqual([line, line]);
});

test('lines are the same in every chunking, CRLF split between two chunks included', async () => {
  const line = fc.stringMatching(/^[a-z{}" é😀\u2028\r]{0,40}$/u);
  const lineEnd = fc.constantFrom('\n', '\r\n');
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(line, lineEnd)), fc.integer({ min: 1, max: 50 }), async (lines, chunkBytes) => {
      const bytes = Buffer.from(lines.map(([text, ending]) => text + ending).join(''));
      const expected = lines.map(([text, ending]) =>
        ending === '\n' && text.endsWith('\r') ? text.slice(0, -1) : text,
      );
      const { texts, faults } = await split(bytes, chunkBytes);
      expect(texts.slice(0, lines.length)).toEqual(expected);
      expect(texts.slice(lines.length).join('')).toBe('');
      expect(faults).toEqual([]);
    }),
  );
});

test.each([1, 3, 64, 4096])(
  'a line over the limit is reported once and skipped, in chunks of %i bytes',
  async (chunkBytes) => {
    const long = 'x'.repeat(MAX_LINE_BYTES + 1);
    const exact = 'y'.repeat(MAX_LINE_BYTES);
    const { texts, faults } = await split(
      Buffer.from(`a\n${long}\nb\n${exact}\r\n${long}${long}${long}\r\nc\n${long}`),
      chunkBytes,
    );
    expect(texts).toEqual(['a', '', 'b', exact, '', 'c', '']);
    expect(faults).toMatchObject([
      { position: 2, fault: 'line_too_long', size: { head: long, bytes: long.length } },
      { position: 5, fault: 'line_too_long', size: { bytes: 3 * long.length + 1 } },
      { position: 7, fault: 'line_too_long', size: { head: long, bytes: long.length } },
    ]);
  },
);

test('the limit is of bytes, not of characters', async () => {
  const { texts, faults } = await split(Buffer.from(`${'é'.repeat(5)}\n${'é'.repeat(6)}\n`), 64, 10);
  expect(texts).toEqual(['é'.repeat(5), '']);
  expect(faults).toMatchObject([{ position: 2, fault: 'line_too_long', size: { bytes: 12 } }]);
});

test('bytes that are not UTF-8 spoil their own line alone', async () => {
  const bytes = Buffer.concat([
    Buffer.from('good é\n'),
    Buffer.from([0x62, 0xff, 0x0a]),
    Buffer.from('😀\n'),
    Buffer.from([0xed, 0xa0, 0x80, 0x0a]),
    Buffer.from('cut: '),
    Buffer.from('😀').subarray(0, 3),
  ]);
  for (const chunkBytes of [1, 4, 1000]) {
    const { texts, faults } = await split(bytes, chunkBytes);
    expect(texts).toEqual(['good é', '', '😀', '', '']);
    expect(faults).toEqual([2, 4, 5].map((position) => ({ position, fault: 'invalid_utf8' })));
  }
});
