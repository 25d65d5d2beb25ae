import { expect, test } from 'vitest';
import { AT_ONCE, call, ended, linesOf, prompts, resultsOf, startAnthropic, submit } from './testing/harness.ts';

const provider = 'anthropic';
const DAY_MS = 86_400_000;
const NONE = { processing: 0, succeeded: 0, errored: 0, canceled: 0, expired: 0 };

test.for([
  { end: { status: 'completed' as const }, counts: { succeeded: 5 } },
  { end: { status: 'completed' as const, finished: 2 }, counts: { succeeded: 2, errored: 3 } },
  { end: { status: 'failed' as const }, counts: { errored: 5 } },
  { end: { status: 'failed' as const, finished: 2 }, counts: { succeeded: 2, errored: 3 } },
  { end: { status: 'expired' as const, finished: 2 }, counts: { succeeded: 2, expired: 3 } },
  { end: { status: 'expired' as const, finished: 0 }, counts: { expired: 5 } },
  { end: { status: 'cancelled' as const, finished: 2 }, counts: { succeeded: 2, canceled: 3 } },
  { end: { status: 'cancelled' as const, finished: 5 }, counts: { succeeded: 5 } },
])('ends a batch of five as $end with $counts', async ({ end, counts }) => {
  const { client, control } = await startAnthropic();
  await control.faults({ provider, route: 'batches.create', action: { end_state: end } });
  const { id } = await submit(client, prompts(5));
  const batch = await ended(client, id);
  expect(batch.request_counts).toEqual({ ...NONE, ...counts });
  expect(batch.cancel_initiated_at === null).toBe(end.status !== 'cancelled');
  const types = (await linesOf(client, id)).map(({ result }) => result.type).sort();
  expect(types).toEqual(
    Object.entries(counts)
      .flatMap(([type, count]) => Array(count).fill(type))
      .sort(),
  );
});

test('errors what a failed batch left with the error its script names', async () => {
  const { client, control } = await startAnthropic();
  const errors = [{ code: 'overloaded_error', message: 'Too busy.' }];
  const action = { end_state: { status: 'failed' as const, errors } };
  await control.faults(
    { provider, route: 'batches.create', action },
    { provider, route: 'batches.create', action: { end_state: { status: 'failed' } } },
  );
  const named = await submit(client, ['a']);
  await ended(client, named.id);
  expect((await resultsOf(client, named.id))['item-0']).toMatchObject({
    type: 'errored',
    error: { type: 'error', error: { type: 'overloaded_error', message: 'Too busy.' } },
  });
  const plain = await submit(client, ['a']);
  await ended(client, plain.id);
  expect((await resultsOf(client, plain.id))['item-0']).toMatchObject({ error: { error: { type: 'api_error' } } });
});

test('counts what it expired without listing it when told so', async () => {
  const { client, control } = await startAnthropic();
  const action = { end_state: { status: 'expired' as const, finished: 1, list_unfinished: false } };
  await control.faults({ provider, route: 'batches.create', action });
  const { id } = await submit(client, prompts(3));
  expect((await ended(client, id)).request_counts).toMatchObject({ succeeded: 1, expired: 2 });
  expect(await linesOf(client, id)).toHaveLength(1);
});

test.for(['validating', 'in_progress', 'finalizing'] as const)(
  'stays in progress while it is stuck %s',
  async (state) => {
    const { client, control } = await startAnthropic();
    const action = { stuck: { state, for_ms: DAY_MS / 2 } };
    await control.faults({ provider, route: 'batches.create', action });
    const { id } = await submit(client, prompts(2));
    await control.advance(DAY_MS / 2 - 60_000);
    expect(await client.messages.batches.retrieve(id)).toMatchObject({
      processing_status: 'in_progress',
      request_counts: { processing: 2 },
      results_url: null,
    });
    await control.advance(60_000);
    expect((await ended(client, id)).request_counts).toMatchObject({ succeeded: 2 });
  },
);

test('stands still at five of ten until it is cancelled', async () => {
  const { client, control } = await startAnthropic();
  const action = { stuck: { state: 'in_progress' as const, finished: 5 } };
  await control.faults({ provider, route: 'batches.create', action });
  const { id } = await submit(client, prompts(10));
  await control.advance(DAY_MS / 2);
  await client.messages.batches.cancel(id);
  expect((await ended(client, id)).request_counts).toEqual({ ...NONE, succeeded: 5, canceled: 5 });
});

test('never moves when it is stuck beyond its expiry', async () => {
  const { client, control } = await startAnthropic();
  const action = { stuck: { state: 'in_progress' as const, past_expiry: true } };
  await control.faults({ provider, route: 'batches.create', action });
  const { id } = await submit(client, prompts(2));
  await control.advance(3 * DAY_MS);
  expect((await client.messages.batches.retrieve(id)).processing_status).toBe('in_progress');
});

test('stays canceling for as long as it is stuck there', async () => {
  const { client, control } = await startAnthropic({ ...AT_ONCE, inProgressMs: DAY_MS });
  const action = { stuck: { state: 'cancelling' as const, for_ms: 600_000 } };
  await control.faults({ provider, route: 'batches.create', action });
  const { id } = await submit(client, prompts(3));
  await client.messages.batches.cancel(id);
  await control.advance(590_000);
  expect((await client.messages.batches.retrieve(id)).processing_status).toBe('canceling');
  await control.advance(10_000);
  await ended(client, id);
});

test('finishes everything in spite of a cancel when that is its scripted end', async () => {
  const { client, control } = await startAnthropic({ ...AT_ONCE, inProgressMs: DAY_MS });
  await control.faults({ provider, route: 'batches.create', action: { end_state: { status: 'completed' } } });
  const { id } = await submit(client, prompts(3));
  expect((await client.messages.batches.cancel(id)).processing_status).toBe('canceling');
  expect((await ended(client, id)).request_counts).toEqual({ ...NONE, succeeded: 3 });
});

test('lists a batch only after its lag, though it can be retrieved', async () => {
  const { client, control } = await startAnthropic();
  await control.faults({ provider, route: 'batches.create', action: { list_lag_ms: 60_000 } });
  const { id } = await submit(client, ['a']);
  expect((await client.messages.batches.retrieve(id)).id).toBe(id);
  expect((await client.messages.batches.list()).data).toEqual([]);
  await control.advance(60_000);
  expect((await client.messages.batches.list()).data).toHaveLength(1);
});

test.for([
  { counts: 'zero' as const, shown: NONE },
  { counts: 'strings' as const, shown: { ...mapped('0'), succeeded: '2' } },
  { counts: 'absent' as const, shown: undefined },
  { counts: { succeeded: 7 }, shown: { ...NONE, succeeded: 7 } },
])('shows counts as $counts', async ({ counts, shown }) => {
  const { client, control } = await startAnthropic();
  const { id } = await submit(client, prompts(2));
  await ended(client, id);
  await control.faults({ provider, route: 'batches.retrieve', action: { counts } });
  expect((await client.messages.batches.retrieve(id)).request_counts).toEqual(shown);
});

test('shows another status or another place of the results once', async () => {
  const { client, control } = await startAnthropic();
  const { id } = await submit(client, ['a']);
  const batch = await ended(client, id);
  await control.faults(
    { provider, route: 'batches.retrieve', action: { native_status: 'archiving' } },
    {
      provider,
      route: 'batches.retrieve',
      match: { batch_status: 'ended' },
      action: { results_url: 'https://elsewhere.test/results' },
    },
  );
  expect((await client.messages.batches.retrieve(id)).processing_status).toBe('archiving');
  expect(await client.messages.batches.retrieve(id)).toEqual({
    ...batch,
    results_url: 'https://elsewhere.test/results',
  });
  expect(await client.messages.batches.retrieve(id)).toEqual(batch);
});

test('has no results to show when they are withheld', async () => {
  const { client, control, url } = await startAnthropic();
  await control.faults({ provider, route: 'batch:results', match: { items: '2' }, action: { no_output_file: true } });
  const { id } = await submit(client, prompts(2));
  expect(await ended(client, id)).toMatchObject({ request_counts: { succeeded: 2 }, results_url: null });
  expect((await call(url, `/v1/messages/batches/${id}/results`)).status).toBe(404);
});

test('counts an item whose line is missing, and writes a doubled one twice', async () => {
  const { client } = await startAnthropic();
  const { id } = await submit(client, ['[[sim:missing]]', '[[sim:duplicate]]', 'a']);
  expect((await ended(client, id)).request_counts).toMatchObject({ succeeded: 3 });
  const ids = (await linesOf(client, id)).map((line) => line.custom_id);
  expect(ids.sort()).toEqual(['item-1', 'item-1', 'item-2']);
});

test('lets the operator of the console cancel, end, hold and release a batch', async () => {
  const { client, control } = await startAnthropic({ ...AT_ONCE, inProgressMs: DAY_MS });

  const cancelled = await submit(client, prompts(4));
  expect(await control.batch(cancelled.id, { cancel: true })).toMatchObject({ processing_status: 'canceling' });
  expect((await ended(client, cancelled.id)).request_counts).toMatchObject({ canceled: 4 });

  const failed = await submit(client, prompts(4));
  await control.batch(failed.id, { end_state: { status: 'failed' } });
  expect((await ended(client, failed.id)).request_counts).toEqual({ ...NONE, errored: 4 });

  const held = await submit(client, prompts(4));
  await control.batch(held.id, { stuck: { state: 'in_progress', finished: 1, past_expiry: true } });
  await control.advance(2 * DAY_MS);
  expect((await client.messages.batches.retrieve(held.id)).processing_status).toBe('in_progress');
  await control.batch(held.id, { stuck: null });
  await ended(client, held.id);

  await expect(control.batch('msgbatch_none', { cancel: true })).rejects.toThrow('404');
  expect((await control.batches())['anthropic']).toEqual((await client.messages.batches.list()).data);
});

function mapped(value: string): Record<string, string> {
  return Object.fromEntries(Object.keys(NONE).map((name) => [name, value]));
}
