import { expect, test } from 'vitest';
import { AT_ONCE, lines, MODEL, reached, startGemini, submit, submitInline, upload } from './testing/harness.ts';

const HOUR_MS = 3_600_000;

test('refuses an inline create of too many bytes', async () => {
  const gemini = await startGemini({ ...AT_ONCE, maxInlineBytes: 2_000 });
  await submitInline(gemini, ['a']);
  await expect(submitInline(gemini, ['a'.repeat(2_000)])).rejects.toThrow('answered 400');
});

test('runs as many batches as may run at a time, and names when to try again', async () => {
  const gemini = await startGemini({ ...AT_ONCE, runningMs: HOUR_MS, concurrentBatchLimit: 2 });
  const [first] = [await submitInline(gemini, ['a']), await submitInline(gemini, ['b'])];
  await expect(submitInline(gemini, ['c'])).rejects.toThrow(/429.*RESOURCE_EXHAUSTED.*RetryInfo.*retryDelay/);
  await gemini.client.batches.cancel({ name: first });
  await reached(gemini, first);
  await submitInline(gemini, ['c']);
});

test('lets only one of two creates at once take the last room', async () => {
  const gemini = await startGemini({ ...AT_ONCE, runningMs: HOUR_MS, concurrentBatchLimit: 1 });
  const outcomes = await Promise.allSettled([submitInline(gemini, ['a']), submitInline(gemini, ['b'])]);
  expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
});

test('counts the input tokens of the batches of a model that have not ended', async () => {
  const tokens = 'x'.repeat(400);
  const gemini = await startGemini({ ...AT_ONCE, runningMs: HOUR_MS, enqueuedTokenLimits: { [MODEL]: 250 } });
  const names = [await submitInline(gemini, [tokens]), await submit(gemini, lines([tokens]))];
  const file = await upload(gemini, lines([tokens]));
  const creating = gemini.client.batches.create({ model: MODEL, src: file.name ?? '' });
  await expect(creating).rejects.toMatchObject({ status: 429, message: expect.not.stringContaining('RetryInfo') });
  const other = await gemini.client.batches.create({ model: 'gemini-2.5-pro', src: file.name ?? '' });
  expect(other.state).toBe('JOB_STATE_PENDING');
  await gemini.client.batches.cancel({ name: names[0] ?? '' });
  await reached(gemini, names[0] ?? '');
  expect((await gemini.client.batches.create({ model: MODEL, src: file.name ?? '' })).name).toBeDefined();
});

test('expires a batch at 48 hours, without output', async () => {
  const gemini = await startGemini();
  const name = await submit(gemini, lines(['a', '[[sim:expire]]']));
  await reached(gemini, name, ['RUNNING']);
  await gemini.control.advance(47 * HOUR_MS);
  const running = await reached(gemini, name, ['RUNNING']);
  expect(running.metadata.batchStats).toMatchObject({ successfulRequestCount: '1', pendingRequestCount: '1' });
  await gemini.control.advance(HOUR_MS);
  const ended = await reached(gemini, name);
  expect(ended).toMatchObject({ done: true, metadata: { state: 'BATCH_STATE_EXPIRED' } });
  expect([ended.response, ended.metadata.output]).toEqual([undefined, undefined]);
});
