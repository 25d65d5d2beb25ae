import fc from 'fast-check';
import { expect, test } from 'vitest';
import { splitJsonItems } from './json-items.ts';

async function* cut(bytes: Buffer, chunkBytes: number): AsyncGenerator<Buffer> {
  for (let start = 0; start < bytes.length; start += chunkBytes) yield bytes.subarray(start, start + chunkBytes);
}

async function split(body: string | Buffer, chunkBytes = 5, maxItemBytes = 10_000): Promise<string[]> {
  const batches = await Array.fromAsync(splitJsonItems(cut(Buffer.from(body), chunkBytes), maxItemBytes));
  return batches.flatMap(({ texts }) => texts);
}

test.each([
  ['one item', '{"items":[{"a":1}]}', ['{"a":1}']],
  ['none', '{"items":[]}', []],
  ['none, with white space', ' { "items" :\n[ \n] } \n', []],
  [
    'several of any shape',
    '{"items":[{"a":[1,{"b":[]}]}, null ,[1,2],"x,]}",3]}',
    ['{"a":[1,{"b":[]}]}', ' null ', '[1,2]', '"x,]}"', '3'],
  ],
  [
    'strings with quotes and backslashes',
    String.raw`{"items":["a\"],\\","\\"]}`,
    [String.raw`"a\"],\\"`, String.raw`"\\"`],
  ],
  ['text beyond ASCII', '{"items":["é😀\u2028"]}', ['"é😀\u2028"']],
])('a list of %s is cut at its commas in any chunking', async (_name, body, expected) => {
  for (const chunkBytes of [1, 2, 7, 1000]) expect(await split(body, chunkBytes)).toEqual(expected);
});

test('items are cut as JSON.parse would read them', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.jsonValue()), fc.integer({ min: 1, max: 40 }), async (items, chunkBytes) => {
      const texts = await split(JSON.stringify({ items }), chunkBytes, 1_000_000);
      expect(texts.map((text) => JSON.parse(text))).toEqual(JSON.parse(JSON.stringify(items)));
    }),
  );
});

test('positions go on over chunks', async () => {
  const batches = await Array.fromAsync(splitJsonItems(cut(Buffer.from('{"items":[1,2,3,4,5]}'), 13), 100));
  expect(batches.map(({ firstPosition, texts }) => [firstPosition, texts])).toEqual([
    [1, ['1']],
    [2, ['2', '3', '4', '5']],
  ]);
});

test.each([
  ['nothing', '', 'invalid_json', null],
  ['no JSON', 'items', 'invalid_json', null],
  ['cut off inside an item', '{"items":[{"a":1', 'invalid_json', null],
  ['cut off after an item', '{"items":[{"a":1}', 'invalid_json', null],
  ['followed by more', '{"items":[1]}{"items":[2]}', 'invalid_json', null],
  ['closed twice', '{"items":[1]}}', 'invalid_json', null],
  ['missing an item', '{"items":[1,,2]}', 'invalid_json', null],
  ['missing its last item', '{"items":[1,]}', 'invalid_json', null],
  ['missing its first item', '{"items":[,1]}', 'invalid_json', null],
  ['not UTF-8 around its items', Buffer.from('{"\xff":1,"items":[]}', 'latin1'), 'invalid_json', null],
  ['a list', '[{"custom_id":"a"}]', 'invalid_request', 'items'],
  ['one item', '{"custom_id":"a","request":{}}', 'invalid_request', 'custom_id'],
  ['null', 'null', 'invalid_request', 'items'],
  ['an object without items', '{}', 'invalid_request', 'items'],
  ['an object whose items are an object', '{"items":{"a":1}}', 'invalid_request', 'items'],
  ['an object with items below', '{"data":{"items":[1]}}', 'invalid_request', 'data'],
  ['an object with another member', '{"items":[1],"mode":"x"}', 'invalid_request', 'mode'],
  ['an object with items twice', '{"items":[1],"items":[2]}', 'invalid_request', 'items'],
])('I-03: a body that is %s is refused', async (_name, body, code, field) => {
  for (const chunkBytes of [1, 1000]) {
    const error = await split(body, chunkBytes).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject(field === null ? { code } : { code, field });
  }
});

test('what is not UTF-8 spoils its own item alone', async () => {
  const body = Buffer.concat([Buffer.from('{"items":["a","'), Buffer.from([0xff]), Buffer.from('","c"]}')]);
  const batches = await Array.fromAsync(splitJsonItems(cut(body, 1000), 100));
  expect(batches).toEqual([
    { firstPosition: 1, texts: ['"a"', '', '"c"'], faults: [{ position: 2, fault: 'invalid_utf8' }] },
  ]);
});

test('an item over the limit is refused by its index and its id', async () => {
  const long = `{"custom_id":"long","request":"${'x'.repeat(100)}"}`;
  const error = await split(`{"items":["a",${long}]}`, 10, 100).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({
    code: 'request_too_large',
    field: 'items[1]',
    message: expect.stringContaining('the limit is 100'),
    details: [{ index: 1, customId: 'long', error: 'request_too_large' }],
  });
});

test('what stands around the items may not grow without end', async () => {
  await expect(split(`{"x":"${'y'.repeat(70_000)}","items":[]}`, 1000)).rejects.toMatchObject({
    code: 'invalid_request',
  });
});
