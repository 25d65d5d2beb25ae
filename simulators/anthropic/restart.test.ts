import { expect, test } from 'vitest';
import { AT_ONCE, ended, linesOf, prompts, resultsOf, run, startAnthropic, submit } from './testing/harness.ts';
import { stateFolder } from './testing/state-folder.ts';

const HOUR_MS = 3_600_000;
const SLOW = { inProgressMs: 10 * HOUR_MS, endingMs: HOUR_MS, cancelingMs: HOUR_MS };

test('keeps batches, results and the clock over a restart and goes on with what was running', async () => {
  const statePath = await stateFolder();
  const before = await startAnthropic(SLOW, { statePath });
  const done = await submit(before.client, prompts(3));
  const running = await submit(before.client, [...prompts(9), '[[sim:expire]]']);
  const canceling = await submit(before.client, prompts(10));
  await before.control.batch(done.id, { end_state: { status: 'completed' } });
  await before.control.advance(HOUR_MS);
  const completed = await ended(before.client, done.id);
  const lines = await linesOf(before.client, done.id);
  await before.control.advance(4 * HOUR_MS);
  await before.client.messages.batches.cancel(canceling.id);
  await before.simulators.close();

  const after = await startAnthropic(SLOW, { statePath });
  const { results_url: _, ...kept } = completed;
  expect(await after.client.messages.batches.retrieve(done.id)).toMatchObject(kept);
  expect(await linesOf(after.client, done.id)).toEqual(lines);
  const listed = await after.client.messages.batches.list();
  expect(listed.data.map(({ id }) => id)).toEqual([canceling.id, running.id, done.id]);
  expect(listed.data.map((batch) => batch.processing_status)).toEqual(['canceling', 'in_progress', 'ended']);
  await after.control.advance(HOUR_MS);
  expect((await ended(after.client, canceling.id)).request_counts).toMatchObject({ succeeded: 6, canceled: 4 });
  await after.control.advance(10 * HOUR_MS);
  expect((await ended(after.client, running.id)).request_counts).toMatchObject({ succeeded: 9, expired: 1 });
  expect(Object.keys(await resultsOf(after.client, running.id))).toHaveLength(10);
  const newest = await submit(after.client, ['a']);
  expect((await after.client.messages.batches.list({ limit: 1 })).data[0]?.id).toBe(newest.id);
});

test('remembers over a restart which prompts marked once were run', async () => {
  const statePath = await stateFolder();
  const questions = ['[[sim:once]][[sim:invalid]]'];
  const before = await startAnthropic(AT_ONCE, { statePath });
  expect((await run(before.client, questions))[0]?.type).toBe('errored');
  await before.simulators.close();
  const after = await startAnthropic(AT_ONCE, { statePath });
  expect((await run(after.client, questions))[0]?.type).toBe('succeeded');
});

test('forgets everything on reset', async () => {
  const { client, control } = await startAnthropic();
  await run(client, ['a']);
  await control.settings({ anthropic: { maxItems: 1 } });
  await control.reset();
  expect((await client.messages.batches.list()).data).toEqual([]);
  expect(await control.settings()).toMatchObject({ anthropic: { maxItems: 100_000 } });
});
