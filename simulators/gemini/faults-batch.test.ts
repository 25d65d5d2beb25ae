import { expect, test } from 'vitest';
import type { FaultAction } from '../fault-actions.ts';
import {
  AT_ONCE,
  fileText,
  type Gemini,
  lines,
  operation,
  prompts,
  reached,
  resultsOf,
  startGemini,
  submit,
  submitInline,
} from './testing/harness.ts';

const provider = 'gemini';
const HOUR_MS = 3_600_000;

const script = ({ control }: Gemini, route: string, action: FaultAction) => control.faults({ provider, route, action });

test.for([
  { status: 'failed' as const, state: 'FAILED', code: 13 },
  { status: 'expired' as const, state: 'EXPIRED', code: 4 },
  { status: 'cancelled' as const, state: 'CANCELLED', code: 1 },
])('ends a batch as $state with two of five items and no output', async ({ status, state, code }) => {
  const gemini = await startGemini();
  await script(gemini, 'batches.create', { end_state: { status, finished: 2 } });
  const ended = await reached(gemini, await submit(gemini, lines(prompts(5))));
  expect(ended).toMatchObject({
    done: true,
    error: { code },
    metadata: {
      state: `BATCH_STATE_${state}`,
      batchStats: { requestCount: '5', successfulRequestCount: '2', pendingRequestCount: '3' },
    },
  });
  expect(ended.response).toBeUndefined();
});

test('fails with a scripted error at once, by the name of its code', async () => {
  const gemini = await startGemini();
  const errors = [{ code: 'RESOURCE_EXHAUSTED', message: 'Quota.' }];
  await script(gemini, 'batches.create', { end_state: { status: 'failed', errors } });
  expect((await reached(gemini, await submit(gemini, lines(['a'])))).error).toEqual({ code: 8, message: 'Quota.' });
});

test('succeeds with items that never ran, listed as cancelled or not at all', async () => {
  const gemini = await startGemini();
  const unfinished = async (lists: boolean) => {
    const end = { status: 'completed' as const, finished: 2, list_unfinished: lists };
    await script(gemini, 'batches.create', { end_state: end });
    const results = await resultsOf(gemini, await reached(gemini, await submit(gemini, lines(prompts(5)))));
    return [results.length, results.filter(({ error }) => error?.code === 1).length];
  };
  expect(await unfinished(true)).toEqual([5, 3]);
  expect(await unfinished(false)).toEqual([2, 0]);
});

test.for([
  { state: 'validating' as const, shown: 'PENDING' },
  { state: 'in_progress' as const, shown: 'RUNNING' },
  { state: 'cancelling' as const, shown: 'RUNNING' },
])('stays $shown for as long as it is stuck $state', async ({ state, shown }) => {
  const gemini = await startGemini({ ...AT_ONCE, runningMs: state === 'cancelling' ? HOUR_MS : 0 });
  await script(gemini, 'batches.create', { stuck: { state, for_ms: 600_000 } });
  const name = await submit(gemini, lines(prompts(2)));
  await reached(gemini, name, [state === 'validating' ? 'PENDING' : 'RUNNING']);
  if (state === 'cancelling') await gemini.client.batches.cancel({ name });
  await gemini.control.advance(500_000);
  expect((await operation(gemini, name)).metadata.state).toBe(`BATCH_STATE_${shown}`);
  await gemini.control.advance(100_001);
  await reached(gemini, name);
});

test('lets the operator of the console hold, release, cancel and end a batch by its name', async () => {
  const gemini = await startGemini({ ...AT_ONCE, runningMs: HOUR_MS });
  const { control } = gemini;
  const [first, second] = [await submit(gemini, lines(['a'])), await submitInline(gemini, ['b'])];
  await control.batch(first, { stuck: { state: 'in_progress' } });
  await control.advance(HOUR_MS);
  await reached(gemini, second, ['SUCCEEDED']);
  expect((await operation(gemini, first)).metadata.state).toBe('BATCH_STATE_RUNNING');
  expect(await control.batch(first, { cancel: true })).toMatchObject({ name: first });
  await reached(gemini, first, ['CANCELLED']);
  expect((await control.batches())['gemini']).toMatchObject([{ name: second }, { name: first }]);
});

test('is not listed before its lag is over, nor found when told so', async () => {
  const gemini = await startGemini();
  await script(gemini, 'batches.create', { list_lag_ms: 60_000 });
  const name = await submit(gemini, lines(['a']));
  expect((await gemini.client.batches.list()).page).toEqual([]);
  await script(gemini, 'batches.retrieve', { not_found: true });
  await expect(gemini.client.batches.get({ name })).rejects.toMatchObject({ status: 404 });
  await gemini.control.advance(60_000);
  expect((await gemini.client.batches.list()).page).toHaveLength(1);
});

test.for([
  { counts: 'zero' as const, stats: {} },
  { counts: 'absent' as const, stats: undefined },
  {
    counts: 'strings' as const,
    stats: { requestCount: 2, successfulRequestCount: 2, failedRequestCount: 0, pendingRequestCount: 0 },
  },
  { counts: { requestCount: '9' }, stats: { requestCount: '9', successfulRequestCount: '2' } },
])('shows the counts as $counts', async ({ counts, stats }) => {
  const gemini = await startGemini();
  const name = await submit(gemini, lines(['a', 'b']));
  await reached(gemini, name);
  await script(gemini, 'batches.retrieve', { counts });
  expect((await operation(gemini, name)).metadata.batchStats).toEqual(stats);
});

test('shows another state', async () => {
  const gemini = await startGemini();
  const name = await submit(gemini, lines(['a']));
  await script(gemini, 'batches.retrieve', { native_status: 'BATCH_STATE_PAUSED' });
  expect((await operation(gemini, name)).metadata.state).toBe('BATCH_STATE_PAUSED');
});

test('succeeds without its output', async () => {
  const gemini = await startGemini();
  for (const make of [() => submit(gemini, lines(['a'])), () => submitInline(gemini, ['a'])]) {
    await script(gemini, 'batch:results', { no_output_file: true });
    const ended = await reached(gemini, await make());
    expect(ended).toMatchObject({ done: true, metadata: { state: 'BATCH_STATE_SUCCEEDED' } });
    expect([ended.response, ended.metadata.output]).toEqual([undefined, undefined]);
  }
});

test('damages inline results where they are written', async () => {
  const gemini = await startGemini();
  await script(gemini, 'batch:results', {
    omit_lines: { index: [0] },
    no_key_lines: { containing: ['question 1'] },
    empty_body_lines: { containing: ['question 2'] },
    zero_status_lines: { containing: ['question 3'] },
    append_raw_lines: ['{"response":{},"metadata":{"key":"stranger"}}'],
  });
  const ended = await reached(gemini, await submitInline(gemini, prompts(4)));
  expect(await resultsOf(gemini, ended)).toEqual([
    { response: expect.objectContaining({ modelVersion: expect.any(String) }) },
    { response: {}, metadata: { key: 'item-2' } },
    { error: {}, metadata: { key: 'item-3' } },
    { response: {}, metadata: { key: 'stranger' } },
  ]);
});

test('breaks the JSON of an inline answer by one garbled result', async () => {
  const gemini = await startGemini();
  await script(gemini, 'batch:results', { garble_lines: 1 });
  const name = await submitInline(gemini, ['a', 'b']);
  const isJson = async () => {
    const { text } = await gemini.rest('GET', `/v1beta/${name}`);
    return await new Response(text).json().then(
      () => true,
      () => false,
    );
  };
  await expect.poll(isJson).toBe(false);
});

test('damages the lines of a result file, and those of one download alone', async () => {
  const gemini = await startGemini();
  await script(gemini, 'batch:results', { duplicate_lines: { index: [0] }, no_key_lines: { index: [1] }, crlf: true });
  const ended = await reached(gemini, await submit(gemini, lines(prompts(3))));
  const whole = await fileText(gemini, ended.response?.responsesFile);
  const keys = whole
    .split('\r\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line).key ?? 'none');
  expect(keys.toSorted()).toEqual(['item-0', 'item-0', 'item-2', 'none']);
  await script(gemini, 'files.download', { no_key_lines: 4, half_last_line: true });
  const damaged = await fileText(gemini, ended.response?.responsesFile);
  expect(damaged).not.toContain('item-');
  expect(damaged.endsWith('}')).toBe(false);
  expect(await fileText(gemini, ended.response?.responsesFile)).toBe(whole);
});

test('cuts a download', async () => {
  const gemini = await startGemini();
  const ended = await reached(gemini, await submit(gemini, lines(prompts(3))));
  await gemini.control.faults({
    provider,
    route: 'files.download',
    match: { kind: 'output', batch_id: ended.name },
    action: { cut: { after_bytes: 100 } },
  });
  await expect(fileText(gemini, ended.response?.responsesFile)).rejects.toThrow();
});
