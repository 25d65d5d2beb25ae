import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import {
  AT_ONCE,
  lines,
  operation,
  prompts,
  reached,
  resultsOf,
  runOne,
  startGemini,
  submit,
  submitInline,
  upload,
} from './testing/harness.ts';

const HOUR_MS = 3_600_000;
const SLOW = { pendingMs: 0, runningMs: 10 * HOUR_MS, cancellingMs: HOUR_MS };

async function stateFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'simulator-state-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

test('keeps files and batches over a restart and goes on with what was running', async () => {
  const statePath = await stateFolder();
  const before = await startGemini(SLOW, { statePath });
  const file = await upload(before, lines(['kept']));
  const [done, inline, running, cancelling] = [
    await submit(before, lines(prompts(3))),
    await submitInline(before, prompts(2)),
    await submitInline(before, prompts(10)),
    await submit(before, lines(prompts(10))),
  ];
  for (const name of [done, inline, running, cancelling]) await reached(before, name, ['RUNNING']);
  for (const name of [done, inline]) await before.control.batch(name, { end_state: { status: 'completed' } });
  const ended = [await reached(before, done), await reached(before, inline)];
  const results = await Promise.all(ended.map((each) => resultsOf(before, each)));
  await before.control.advance(5 * HOUR_MS);
  await before.client.batches.cancel({ name: cancelling });
  await before.simulators.close();

  const after = await startGemini(SLOW, { statePath });
  const { name = '' } = file;
  expect((await after.client.files.get({ name })).sha256Hash).toBe(file.sha256Hash);
  expect([await operation(after, done), await operation(after, inline)]).toEqual(ended);
  expect(await Promise.all(ended.map((each) => resultsOf(after, each)))).toEqual(results);
  expect((await operation(after, running)).metadata).toMatchObject({
    state: 'BATCH_STATE_RUNNING',
    batchStats: { requestCount: '10', successfulRequestCount: '5' },
  });
  const listed = await after.client.batches.list();
  expect(listed.page.map((job) => job.name)).toEqual([cancelling, running, inline, done]);
  await after.control.advance(HOUR_MS);
  expect((await reached(after, cancelling)).error?.code).toBe(1);
  await after.control.advance(10 * HOUR_MS);
  expect(await resultsOf(after, await reached(after, running))).toHaveLength(10);
});

test('remembers over a restart which prompts marked once were run, also by a batch that expired', async () => {
  const statePath = await stateFolder();
  const prompt = '[[sim:once]][[sim:expire]]';
  const before = await startGemini(AT_ONCE, { statePath });
  const name = await submit(before, lines([prompt]));
  await reached(before, name, ['RUNNING']);
  await before.control.advance(48 * HOUR_MS);
  await reached(before, name, ['EXPIRED']);
  await before.simulators.close();
  const after = await startGemini(AT_ONCE, { statePath });
  expect((await runOne(after, prompt)).response).toBeDefined();
});

test('forgets everything on reset', async () => {
  const gemini = await startGemini();
  await reached(gemini, await submit(gemini, lines(['a'])));
  await gemini.control.settings({ gemini: { concurrentBatchLimit: 1 } });
  await gemini.control.reset();
  expect((await gemini.client.files.list()).page).toEqual([]);
  expect((await gemini.client.batches.list()).page).toEqual([]);
  expect(await gemini.control.settings()).toMatchObject({ gemini: { concurrentBatchLimit: 100, runningMs: 0 } });
});
