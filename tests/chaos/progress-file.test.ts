import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readProgress, withSeed, writeProgress } from './progress-file.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'batchgate-progress-'));
});
afterAll(() => rm(folder, { recursive: true }));

test('what was done is read again, and a seed counts as it went last', async () => {
  const path = join(folder, 'done.json');
  expect(await readProgress(path)).toEqual({ passed: [], failed: [] });
  let progress = await readProgress(path);
  for (const [seed, isSound] of [
    [1, true],
    [2, false],
    [3, true],
    [2, true],
    [1, false],
  ] as const)
    progress = withSeed(progress, seed, isSound);
  await writeProgress(path, progress);
  expect(await readProgress(path)).toEqual({ passed: [3, 2], failed: [1] });
});

test('without a file nothing is remembered, and one that is something else is refused', async () => {
  await writeProgress(null, { passed: [1], failed: [] });
  expect(await readProgress(null)).toEqual({ passed: [], failed: [] });
  const path = join(folder, 'other.json');
  await writeFile(path, '{"passed":"all"}');
  await expect(readProgress(path)).rejects.toThrow(/passed/);
});
