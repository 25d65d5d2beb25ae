import { expect, test } from 'vitest';
import { readCsvRows } from './csv-rows.ts';

async function* pieces(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}

/** Read in pieces of any size, so that no character and no line ends are lost between them. */
async function read(text: string, delimiter: ',' | '\t' = ',', size = 3) {
  return await Array.fromAsync(readCsvRows(pieces(text, size), 'in.csv', delimiter));
}

test.each([1, 2, 3, 1000])(
  'reads quotes and line breaks in values, each row with its line, in pieces of %i',
  async (size) => {
    const text = 'id,text\r\n1,"Hello, ""you""\nover there"\r\n2,plain\r\n\r\n3,"a\n\nb"\n4,last';
    expect(await read(text, ',', size)).toEqual([
      { line: 2, value: { id: '1', text: 'Hello, "you"\nover there' } },
      { line: 4, value: { id: '2', text: 'plain' } },
      { line: 6, value: { id: '3', text: 'a\n\nb' } },
      { line: 9, value: { id: '4', text: 'last' } },
    ]);
  },
);

test.each([1, 2, 1000])('drops a byte order mark that comes in pieces of %i bytes', async (size) => {
  expect(await read('\uFEFFid\nä\n', ',', size)).toEqual([{ line: 2, value: { id: 'ä' } }]);
});

test('reads tabs', async () => {
  expect(await read('a\tb\n1,5\t"x\ty"\n', '\t')).toEqual([{ line: 2, value: { a: '1,5', b: 'x\ty' } }]);
});

test('keeps empty values and white space', async () => {
  expect(await read('a,b\n, x \n')).toEqual([{ line: 2, value: { a: '', b: ' x ' } }]);
});

test('a file with only a header has no rows', async () => {
  expect(await read('a,b\n')).toEqual([]);
  expect(await read('')).toEqual([]);
});

test.each([
  ['a,b\n1,2\n3\n', 'in.csv, line 3: 1 values for 2 columns'],
  ['a,b\n1,2\n3,4,5\n', 'in.csv, line 3: 3 values for 2 columns'],
  ['a,a\n1,2\n', 'in.csv, line 1: two columns are named "a"'],
  ['a,b\n1,"2\n', 'a quote is opened and never closed'],
  ['a,b\n1,x"y"\n', 'a quote stands inside a value'],
  ['a,b\n1,"x"y\n', 'a quote stands inside a value'],
])('refuses %j', async (text, message) => {
  await expect(read(text)).rejects.toThrow(message);
});

test('refuses bytes that are not UTF-8 rather than replace them', async () => {
  async function* latin1() {
    yield Buffer.from('a\nM\xfcller\n', 'latin1');
  }
  await expect(Array.fromAsync(readCsvRows(latin1(), 'in.csv', ','))).rejects.toThrow('in.csv: not valid UTF-8');
});
