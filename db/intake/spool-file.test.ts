import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SpoolFile } from './spool-file.ts';
import { SpoolSpace } from './spool-space.ts';

const MIB = 1024 * 1024;
let directory = '';
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'spool-file-'));
});
afterAll(async () => {
  await rm(directory, { recursive: true });
});

const write = (rows: Buffer, start: number, row: string) => start + rows.write(row, start);

async function fill(file: SpoolFile, rows: readonly string[]): Promise<void> {
  for (const row of rows) if (file.add(row, row.length, write)) await file.flush();
}

async function contents(file: SpoolFile): Promise<string> {
  return Buffer.concat(await Array.fromAsync(file.batches())).toString();
}

test.each([
  ['in memory', 100],
  ['in a file', 20_000],
])('rows kept %s come back in order, as often as asked, whatever the reader does to them', async (_name, count) => {
  const lease = new SpoolSpace(100 * MIB).lease();
  const file = new SpoolFile({ directory, memoryBytes: MIB, lease });
  const rows = Array.from({ length: count }, (_, index) => `row ${index} ${'x'.repeat(index % 300)}\n`);
  await fill(file, rows);
  await file.finish();
  for await (const batch of file.batches()) {
    expect(batch.at(-1)).toBe(10);
    batch.fill(0);
  }
  expect(await contents(file)).toBe(rows.join(''));
  await file.close();
});

test('a row larger than any batch is kept whole', async () => {
  const file = new SpoolFile({ directory, memoryBytes: 1000, lease: new SpoolSpace(100 * MIB).lease() });
  const rows = ['small\n', 'y'.repeat(3 * MIB), 'small\n'];
  await fill(file, rows);
  await file.finish();
  expect(await contents(file)).toBe(rows.join(''));
  await file.close();
});

test('a file has no name from the moment it is open', async () => {
  const file = new SpoolFile({ directory, memoryBytes: 0, lease: new SpoolSpace(100 * MIB).lease() });
  await fill(file, ['z'.repeat(MIB), 'z'.repeat(MIB)]);
  await file.finish();
  expect(await readdir(directory)).toEqual([]);
  expect((await contents(file)).length).toBe(2 * MIB);
  await file.close();
  await file.close();
});

test('a folder that cannot be written to is a dependency that is away', async () => {
  const path = join(directory, 'file-in-the-way');
  await writeFile(path, '');
  const file = new SpoolFile({
    directory: join(path, 'spool'),
    memoryBytes: 0,
    lease: new SpoolSpace(100 * MIB).lease(),
  });
  file.add('row\n', 4, write);
  await expect(file.finish()).rejects.toMatchObject({ code: 'dependency_unavailable' });
  await file.close();
  await rm(path);
});

test('space is shared: what others hold is refused for now, what could never fit for good', () => {
  const space = new SpoolSpace(100);
  const first = space.lease();
  const second = space.lease();
  first.take(60);
  second.take(40);
  expect(() => second.take(1)).toThrow(expect.objectContaining({ code: 'rate_limited', retryAfterSeconds: 30 }));
  expect(() => first.take(41)).toThrow(expect.objectContaining({ code: 'request_too_large' }));
  first.release();
  first.release();
  expect(space.usedBytes).toBe(40);
  second.take(60);
  second.release();
  expect(space.usedBytes).toBe(0);
});
