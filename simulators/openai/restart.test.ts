import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import {
  AT_ONCE,
  chatLines,
  fileText,
  idsIn,
  prompts,
  reached,
  startOpenAi,
  submit,
  upload,
} from './testing/harness.ts';

const HOUR_MS = 3_600_000;
const SLOW = { validatingMs: 0, inProgressMs: 10 * HOUR_MS, finalizingMs: HOUR_MS, cancellingMs: HOUR_MS };

async function stateFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'simulator-state-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

test('keeps files, batches and the clock over a restart and goes on with what was running', async () => {
  const statePath = await stateFolder();
  const before = await startOpenAi(SLOW, { statePath });
  const file = await upload(before.client, chatLines(['kept']));
  const done = await submit(before.client, chatLines(prompts(3)));
  const [validating, running, cancelling] = [
    await submit(before.client, chatLines(prompts(4))),
    await submit(before.client, chatLines(prompts(10))),
    await submit(before.client, chatLines(prompts(10))),
  ];
  await reached(before.client, cancelling.id, ['in_progress']);
  await before.control.batch(done.id, { end_state: { status: 'completed' } });
  await before.control.advance(HOUR_MS);
  const completed = await reached(before.client, done.id);
  const output = await fileText(before.client, completed.output_file_id);
  await before.control.advance(4 * HOUR_MS);
  await before.client.batches.cancel(cancelling.id);
  expect((await before.client.batches.retrieve(running.id)).request_counts?.completed).toBe(5);
  const { ahead_ms: ahead } = await before.control.clock();
  await before.simulators.close();

  const after = await startOpenAi(SLOW, { statePath });
  expect(Math.abs((await after.control.clock()).ahead_ms - ahead)).toBeLessThan(1_000);
  expect(await after.client.files.retrieve(file.id)).toEqual(file);
  expect(await after.client.batches.retrieve(done.id)).toEqual(completed);
  expect(await fileText(after.client, completed.output_file_id)).toBe(output);
  expect(await after.client.batches.retrieve(running.id)).toMatchObject({
    status: 'in_progress',
    request_counts: { total: 10, completed: 5, failed: 0 },
  });
  const listed = await after.client.batches.list();
  expect(listed.data.map(({ id }) => id)).toEqual([cancelling.id, running.id, validating.id, done.id]);
  await after.control.advance(HOUR_MS);
  const cancelled = await reached(after.client, cancelling.id);
  expect(cancelled).toMatchObject({ status: 'cancelled', request_counts: { total: 10, completed: 6 } });
  await after.control.advance(10 * HOUR_MS);
  const finished = await reached(after.client, running.id);
  expect(await idsIn(after.client, finished.output_file_id)).toHaveLength(10);
  expect((await reached(after.client, validating.id)).status).toBe('completed');
});

test('remembers over a restart which prompts marked once were run', async () => {
  const statePath = await stateFolder();
  const lines = chatLines(['[[sim:once]][[sim:invalid]]']);
  const before = await startOpenAi(AT_ONCE, { statePath });
  expect((await reached(before.client, (await submit(before.client, lines)).id)).request_counts?.failed).toBe(1);
  await before.simulators.close();
  const after = await startOpenAi(AT_ONCE, { statePath });
  expect((await reached(after.client, (await submit(after.client, lines)).id)).request_counts?.failed).toBe(0);
});

test('leaves nothing behind without a folder, and forgets everything on reset', async () => {
  const temporary = await stateFolder();
  vi.stubEnv('TMPDIR', temporary);
  onTestFinished(() => void vi.unstubAllEnvs());
  const { client, control, simulators } = await startOpenAi();
  expect(await readdir(temporary)).toHaveLength(1);
  await reached(client, (await submit(client, chatLines(['a']))).id);
  await control.advance(HOUR_MS);
  await control.settings({ openai: { maxLines: 1 } });
  await control.faults({ provider: 'openai', route: '*', action: { status: 500 } });
  await control.reset();
  expect((await client.files.list()).data).toEqual([]);
  expect((await client.batches.list()).data).toEqual([]);
  expect(Math.abs((await control.clock()).ahead_ms)).toBeLessThan(100);
  expect(await control.settings()).toMatchObject({ openai: { maxLines: 50_000 } });
  expect((await control.journal()).map((entry) => entry.route)).toEqual(['files.list', 'batches.list']);
  await simulators.close();
  expect(await readdir(temporary)).toEqual([]);
});
