import Anthropic from '@anthropic-ai/sdk';
import { expect, test } from 'vitest';
import { AT_ONCE, ended, linesOf, prompts, resultsOf, startAnthropic, submit } from './testing/harness.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const RFC_3339 = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

test('creates, runs and ends a batch whose results come in another order', async () => {
  const { client, url } = await startAnthropic({ inProgressMs: 10, endingMs: 0 });
  const created = await submit(client, prompts(20));
  expect(created).toMatchObject({
    id: expect.stringMatching(/^msgbatch_/),
    type: 'message_batch',
    processing_status: 'in_progress',
    request_counts: { processing: 20, succeeded: 0, errored: 0, canceled: 0, expired: 0 },
    created_at: RFC_3339,
    ended_at: null,
    cancel_initiated_at: null,
    archived_at: null,
    results_url: null,
  });
  expect(Date.parse(created.expires_at) - Date.parse(created.created_at)).toBe(DAY_MS);
  const batch = await ended(client, created.id);
  expect(batch).toMatchObject({
    request_counts: { processing: 0, succeeded: 20, errored: 0, canceled: 0, expired: 0 },
    ended_at: RFC_3339,
    results_url: `${url}/v1/messages/batches/${created.id}/results`,
  });
  const ids = (await linesOf(client, created.id)).map((line) => line.custom_id);
  const inOrder = prompts(20).map((_, index) => `item-${index}`);
  expect(ids).not.toEqual(inOrder);
  expect(ids.toSorted()).toEqual(inOrder.toSorted());
});

test('gives all four kinds of result, with an error nested twice', async () => {
  const { client } = await startAnthropic();
  const { id } = await submit(client, ['good', '[[sim:error=overloaded]]', '[[sim:expire]]']);
  expect((await ended(client, id)).request_counts).toEqual({
    processing: 0,
    succeeded: 1,
    errored: 1,
    canceled: 0,
    expired: 1,
  });
  expect(await resultsOf(client, id)).toEqual({
    'item-0': { type: 'succeeded', message: expect.objectContaining({ type: 'message', role: 'assistant' }) },
    'item-1': {
      type: 'errored',
      error: {
        type: 'error',
        error: { type: 'overloaded_error', message: 'Overloaded' },
        request_id: expect.stringMatching(/^req_/),
      },
    },
    'item-2': { type: 'expired' },
  });
});

test('shows every request as processing until the whole batch has ended', async () => {
  const { client, control } = await startAnthropic({ inProgressMs: 10 * HOUR_MS, endingMs: HOUR_MS });
  const { id } = await submit(client, prompts(10));
  const processing = { processing: 10, succeeded: 0, errored: 0, canceled: 0, expired: 0 };
  await control.advance(9 * HOUR_MS);
  expect(await client.messages.batches.retrieve(id)).toMatchObject({ request_counts: processing, results_url: null });
  await control.advance(1.5 * HOUR_MS);
  expect(await client.messages.batches.retrieve(id)).toMatchObject({
    processing_status: 'in_progress',
    request_counts: processing,
    results_url: null,
  });
  await expect(client.messages.batches.results(id)).rejects.toThrow('results_url');
  await control.advance(HOUR_MS);
  expect((await ended(client, id)).request_counts).toMatchObject({ processing: 0, succeeded: 10 });
});

test('cancels a batch, keeping what was done and what was too far to stop', async () => {
  const { client, control } = await startAnthropic({ inProgressMs: 10 * HOUR_MS, cancelingMs: HOUR_MS });
  const { id } = await submit(client, prompts(10));
  await control.advance(4.5 * HOUR_MS);
  const canceling = await client.messages.batches.cancel(id);
  expect(canceling).toMatchObject({
    processing_status: 'canceling',
    cancel_initiated_at: RFC_3339,
    request_counts: { processing: 10, canceled: 0 },
    results_url: null,
  });
  expect(await client.messages.batches.cancel(id)).toEqual(canceling);
  await control.advance(HOUR_MS);
  const batch = await ended(client, id);
  expect(batch).toMatchObject({
    request_counts: { processing: 0, succeeded: 5, errored: 0, canceled: 5, expired: 0 },
    cancel_initiated_at: canceling.cancel_initiated_at,
  });
  const types = Object.values(await resultsOf(client, id)).map(({ type }) => type);
  expect(types.toSorted()).toEqual([...Array(5).fill('canceled'), ...Array(5).fill('succeeded')]);
});

test('may cancel nothing when the batch is nearly done', async () => {
  const { client, control } = await startAnthropic({ inProgressMs: HOUR_MS, endingMs: HOUR_MS, cancelingMs: 0 });
  const { id } = await submit(client, prompts(3));
  await control.advance(1.5 * HOUR_MS);
  await client.messages.batches.cancel(id);
  expect(await ended(client, id)).toMatchObject({
    cancel_initiated_at: RFC_3339,
    request_counts: { succeeded: 3, canceled: 0 },
  });
});

test.for([
  { cancelEndedStatus: 400 as const, type: 'invalid_request_error' },
  { cancelEndedStatus: 409 as const, type: 'conflict_error' },
])('answers $cancelEndedStatus to cancelling what has ended, as it is set', async ({ cancelEndedStatus, type }) => {
  const { client } = await startAnthropic({ ...AT_ONCE, cancelEndedStatus });
  const { id } = await submit(client, ['a']);
  await ended(client, id);
  await expect(client.messages.batches.cancel(id)).rejects.toMatchObject({ status: cancelEndedStatus, type });
});

test('shows an ended batch to whoever cancels it when so set', async () => {
  const { client } = await startAnthropic({ ...AT_ONCE, cancelEndedStatus: 200 });
  const { id } = await submit(client, ['a']);
  const batch = await ended(client, id);
  expect(await client.messages.batches.cancel(id)).toEqual(batch);
});

test('expires a day after its creation with what was done by then', async () => {
  const { client, control } = await startAnthropic({ inProgressMs: 48 * HOUR_MS, endingMs: 0 });
  const { id } = await submit(client, prompts(10));
  await control.advance(DAY_MS - 1_000);
  expect((await client.messages.batches.retrieve(id)).processing_status).toBe('in_progress');
  await control.advance(2_000);
  expect((await ended(client, id)).request_counts).toMatchObject({ processing: 0, succeeded: 5, expired: 5 });
  expect(Object.values(await resultsOf(client, id)).filter(({ type }) => type === 'expired')).toHaveLength(5);
});

test('keeps results for 29 days from creation and lists the batch as archived afterwards', async () => {
  const { client, control, url } = await startAnthropic();
  const { id, created_at: createdAt } = await submit(client, ['a']);
  const batch = await ended(client, id);
  await control.advance(29 * DAY_MS - HOUR_MS);
  expect(await linesOf(client, id)).toHaveLength(1);
  await control.advance(HOUR_MS);
  const archived = await client.messages.batches.retrieve(id);
  expect(archived).toEqual({ ...batch, archived_at: expect.any(String), results_url: null });
  expect(Date.parse(archived.archived_at ?? '') - Date.parse(createdAt)).toBe(29 * DAY_MS);
  expect((await client.messages.batches.list()).data).toEqual([archived]);
  const stored = client.get(`${url}/v1/messages/batches/${id}/results`);
  await expect(stored).rejects.toBeInstanceOf(Anthropic.NotFoundError);
});

test('deletes a batch with its results, but only once it has ended', async () => {
  const { client, control } = await startAnthropic({ ...AT_ONCE, inProgressMs: HOUR_MS });
  const { id } = await submit(client, ['a']);
  await expect(client.messages.batches.delete(id)).rejects.toMatchObject({
    status: 400,
    type: 'invalid_request_error',
  });
  await control.advance(HOUR_MS);
  await ended(client, id);
  expect(await client.messages.batches.delete(id)).toEqual({ id, type: 'message_batch_deleted' });
  await expect(client.messages.batches.retrieve(id)).rejects.toBeInstanceOf(Anthropic.NotFoundError);
  expect((await client.messages.batches.list()).data).toEqual([]);
});

test('lists newest first and pages forwards and backwards', async () => {
  const { client } = await startAnthropic();
  const ids: string[] = [];
  for (const prompt of prompts(5)) ids.unshift((await submit(client, [prompt])).id);

  const all: string[] = [];
  for await (const batch of client.messages.batches.list({ limit: 2 })) all.push(batch.id);
  expect(all).toEqual(ids);

  const first = await client.messages.batches.list({ limit: 2 });
  expect(first).toMatchObject({ has_more: true, first_id: ids[0], last_id: ids[1] });
  const before: string[] = [];
  for await (const batch of client.messages.batches.list({ limit: 2, before_id: ids[4] ?? '' })) before.push(batch.id);
  expect(before).toEqual([ids[2], ids[3], ids[0], ids[1]]);
  expect(await client.messages.batches.list({ before_id: ids[0] ?? '' })).toMatchObject({
    data: [],
    has_more: false,
    first_id: null,
    last_id: null,
  });
});

test.for([
  { limit: 0 },
  { limit: 1_001 },
  { limit: 1.5 },
  { after_id: 'msgbatch_none' },
  { before_id: 'msgbatch_none' },
])('refuses a list by %j', async (query) => {
  const { client } = await startAnthropic();
  await expect(client.messages.batches.list(query)).rejects.toBeInstanceOf(Anthropic.BadRequestError);
});

test('knows no other batches', async () => {
  const { client } = await startAnthropic();
  for (const attempt of [
    client.messages.batches.retrieve('msgbatch_none'),
    client.messages.batches.cancel('msgbatch_none'),
    client.messages.batches.delete('msgbatch_none'),
    client.messages.batches.results('msgbatch_none'),
  ]) {
    await expect(attempt).rejects.toMatchObject({ status: 404, type: 'not_found_error' });
  }
});

test('takes no more requests than its queue holds, until batches have ended', async () => {
  const { client, control } = await startAnthropic({ ...AT_ONCE, inProgressMs: HOUR_MS, queuedRequestLimit: 5 });
  const { id } = await submit(client, prompts(3));
  const refused = await submit(client, prompts(3)).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(Anthropic.RateLimitError);
  expect(refused).toMatchObject({ type: 'rate_limit_error' });
  expect(refused instanceof Anthropic.APIError && refused.headers?.get('retry-after')).toBe('30');
  await submit(client, prompts(2));
  await control.advance(HOUR_MS);
  await ended(client, id);
  await submit(client, prompts(3));
  expect((await client.messages.batches.list()).data).toHaveLength(3);
});
