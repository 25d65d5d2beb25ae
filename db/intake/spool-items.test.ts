import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ItemFaults } from './item-faults.ts';
import { ItemSpool } from './item-spool.ts';
import { splitJsonItems } from './json-items.ts';
import { splitLines } from './lines.ts';
import { spoolItems } from './spool-items.ts';
import { SpoolSpace } from './spool-space.ts';

const MAX_LINE_BYTES = 2000;
const OWNER = { bucket: 202611, jobUuid: '0192f000-0000-7000-8000-00000000000a' };
const GOOD = '{"custom_id":"g","request":{"messages":[{"role":"user","content":"Hi"}]}}';
const space = new SpoolSpace(50_000_000);
let directory = '';
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'spool-items-'));
});
afterAll(async () => {
  await rm(directory, { recursive: true });
});

async function* chunksOf(body: Buffer): AsyncGenerator<Buffer> {
  for (let start = 0; start < body.length; start += 100) yield body.subarray(start, start + 100);
}

async function spool(body: string | Buffer, format: 'json' | 'ndjson' = 'ndjson') {
  const chunks = chunksOf(Buffer.from(body));
  const target = new ItemSpool(OWNER, format === 'json' ? 'index' : 'line', { directory, memoryBytes: 1024, space });
  const faults = new ItemFaults();
  let counted = 0;
  await spoolItems({
    batches: format === 'json' ? splitJsonItems(chunks, MAX_LINE_BYTES) : splitLines(chunks, MAX_LINE_BYTES),
    rules: { endpoint: 'chat.completions', requestDefaults: null, allowsEmailLikeIds: false, maxRequestBytes: 1500 },
    spool: target,
    faults,
    maxLineBytes: MAX_LINE_BYTES,
    checkCount: (count) => {
      counted = count;
    },
  });
  return { target, faults, counted };
}

test('I-03: each bad line between good ones is told with its line, its index and its id', async () => {
  const lines = [GOOD, 'null', '[]', '', '"x"', '3', GOOD, '{"custom_id":"k","body":"text"}', '{"custom_id":"l"', GOOD];
  const { faults, counted } = await spool(lines.join('\n'));
  expect(counted).toBe(9);
  expect(faults.toError()).toMatchObject({
    code: 'invalid_item',
    message: expect.stringMatching(/line 2: the item must be a JSON object, not null, and 6 more/),
    detailsCount: 7,
    details: [
      { line: 2, index: 1, error: 'invalid_item' },
      { line: 3, index: 2, error: 'invalid_item' },
      { line: 5, index: 3, error: 'invalid_item' },
      { line: 6, index: 4, error: 'invalid_item' },
      { line: 8, index: 6, customId: 'k', field: 'body' },
      { line: 8, index: 6, customId: 'k', field: 'request' },
      { line: 9, index: 7, customId: 'l', error: 'invalid_json' },
    ],
  });
});

test('I-03: items of a JSON append are told by index alone', async () => {
  const { faults } = await spool(`{"items":[${GOOD},null,{"custom_id":"","request":{}},${GOOD}]}`, 'json');
  expect(faults.toError().details).toEqual([
    { index: 1, error: 'invalid_item', message: 'the item must be a JSON object, not null' },
    {
      index: 2,
      customId: '',
      field: 'custom_id',
      error: 'custom_id_invalid',
      message: 'custom_id must not be empty or only white space',
    },
  ]);
});

test('faults of one kind give their own code and field', async () => {
  const { faults } = await spool(`${GOOD}\n{"request":{}}\n{"request":{}}\n`);
  expect(faults.toError()).toMatchObject({ code: 'custom_id_missing', field: 'items[*].custom_id', detailsCount: 2 });
});

test('lines too long and lines that are not UTF-8 are told like any other', async () => {
  const body = Buffer.concat([
    Buffer.from(`${GOOD}\n{"custom_id":"long","request":"${'x'.repeat(MAX_LINE_BYTES)}"}\n`),
    Buffer.from([0x22, 0xff, 0x22, 0x0a]),
    Buffer.from('{"a"'),
  ]);
  const { faults } = await spool(body);
  expect(faults.toError().details).toMatchObject([
    { line: 2, index: 1, customId: 'long', error: 'line_too_long', message: expect.stringContaining('2000 bytes') },
    { line: 3, index: 2, error: 'body_encoding' },
    { line: 4, index: 3, error: 'invalid_json' },
  ]);
});

test('a hundred faults are told in full, and all are counted', async () => {
  const { faults } = await spool('x\n'.repeat(250));
  const error = faults.toError();
  expect([error.code, error.details?.length, error.detailsCount, error.details?.at(-1)?.line]).toEqual([
    'invalid_json',
    100,
    250,
    100,
  ]);
});

test('the first fault empties the spool at once', async () => {
  const good = `${GOOD}\n`.repeat(20_000);
  const { target, faults } = await spool(`${good}x\n${good}`);
  expect(faults.count).toBe(1);
  expect(space.usedBytes).toBe(0);
  expect(await readdir(directory)).toEqual([]);
  await target.close();
});

test('good items are in the spool in order, and in groups', async () => {
  const { target } = await spool(`${GOOD}\n`.repeat(20_000));
  const rows = Buffer.concat(await Array.fromAsync(target.requestRows()));
  expect(rows.toString('latin1').split('"Hi"').length - 1).toBe(20_000);
  expect(target.groups().map(({ items, uncappedItems }) => [items, uncappedItems])).toEqual([[20_000, 20_000]]);
  expect(target.itemCount).toBe(20_000);
  expect(space.usedBytes).toBeGreaterThan(1_000_000);
  expect(await readdir(directory)).toEqual([]);
  await target.close();
  expect(space.usedBytes).toBe(0);
});
