import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createState } from './state.ts';

const file = { bytes: 1, createdAt: 0, expiresAt: 1_000, filename: 'a.jsonl', purpose: 'batch' };

async function stateFolder() {
  const folder = await mkdtemp(join(tmpdir(), 'simulator-state-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

test('drops bytes that an interrupted run left without a record, and keeps the others', async () => {
  const folder = await stateFolder();
  const before = createState(folder);
  before.saveFile({ ...file, id: 'file-kept', seq: before.nextSeq() });
  await writeFile(before.pathOf('file-kept'), 'x');
  await writeFile(before.pathOf('file-stray'), 'x');
  const after = createState(folder);
  expect(await readdir(join(folder, 'bytes'))).toEqual(['file-kept']);
  expect(after.nextSeq()).toBe(2);
});

test('hides an expired file and removes its bytes', async () => {
  const folder = await stateFolder();
  const state = createState(folder);
  state.saveFile({ ...file, id: 'file-1', seq: 1 });
  await writeFile(state.pathOf('file-1'), 'x');
  expect(state.findFile('file-1', 999)?.id).toBe('file-1');
  expect(state.findFile('file-1', 1_000)).toBeUndefined();
  expect(state.files(0)).toEqual([]);
  expect(await readdir(join(folder, 'bytes'))).toEqual([]);
});
