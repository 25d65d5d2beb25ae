import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { NO_USAGE } from '../answer.ts';
import { createBackground } from '../background.ts';
import type { Ending } from '../batch-record.ts';
import { createClock } from '../clock.ts';
import type { BatchWork, DraftResults } from './batch-work.ts';
import { newBatch } from './batches.ts';
import { createRunner } from './runner.ts';
import { OpenAiSettings } from './settings.ts';
import { createState } from './state.ts';
import { AT_ONCE } from './testing/harness.ts';

const SETTINGS = OpenAiSettings.parse({ ...AT_ONCE, finalizingMs: 1 });
const CREATE = {
  input_file_id: 'file-in',
  endpoint: '/v1/chat/completions',
  completion_window: '24h',
} as const;

/** A runner whose result files are written when the test says so. */
async function start() {
  const folder = await mkdtemp(join(tmpdir(), 'simulator-state-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const clock = createClock();
  onTestFinished(() => clock.stop());
  const writes: { ending: Ending; finish: () => void }[] = [];
  const discarded: number[] = [];
  const work: BatchWork = {
    validate: async () => ({
      errors: [],
      model: 'gpt-4o-mini',
      total: 5,
      tokens: 5,
      fates: new Uint8Array(5),
      ends: 5,
      tookMs: 0,
    }),
    async write(_batch, ending) {
      const gate = Promise.withResolvers<void>();
      const number = writes.push({ ending, finish: gate.resolve });
      await gate.promise;
      const draft: DraftResults = {
        completed: number,
        failed: 0,
        total: 5,
        bytes: { output: number, error: 0 },
        usage: NO_USAGE,
        fileIds: { output: `file-${number}`, error: '' },
      };
      return { ...draft, tookMs: 0 };
    },
    async discard({ completed }) {
      discarded.push(completed);
    },
  };
  const ended: string[] = [];
  const state = createState(folder);
  const runner = createRunner({
    state,
    clock,
    work,
    background: createBackground((message) => ended.push(message)),
    settings: () => SETTINGS,
    onEnd: (batch) => ended.push(batch.status),
  });
  const batch = newBatch(CREATE, { id: 'batch_1', seq: state.nextSeq(), now: clock.now() }, SETTINGS, {});
  await runner.take(batch);
  await expect.poll(() => batch.status).toBe('finalizing');
  return { runner, batch, writes, discarded, ended };
}

test('ends with the files of its last ending when that changed while files were being written', async () => {
  const { runner, batch, writes, discarded, ended } = await start();
  runner.force(batch, { status: 'expired', finished: 2 });
  expect(writes.map(({ ending }) => [ending.status, ending.finished])).toEqual([
    ['completed', 5],
    ['expired', 2],
  ]);
  writes[0]?.finish();
  await expect.poll(() => discarded).toEqual([1]);
  expect(batch.status).toBe('finalizing');
  writes[1]?.finish();
  await expect.poll(() => ended).toEqual(['expired']);
  expect(batch.result?.outputFileId).toBe('file-2');
});

test('throws away files of a batch it was told to let go of', async () => {
  const { runner, batch, writes, discarded, ended } = await start();
  const stopped = runner.stop();
  writes[0]?.finish();
  await stopped;
  expect([batch.status, discarded, ended]).toEqual(['finalizing', [1], []]);
});
