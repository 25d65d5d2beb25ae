import type { BatchCreateParams } from 'openai/resources/batches';
import { expect, test, vi } from 'vitest';
import {
  AT_ONCE,
  chatLines,
  fileLines,
  idsIn,
  prompts,
  reached,
  startOpenAi,
  submit,
  upload,
} from './testing/harness.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** States long enough that only a moved clock leaves them. */
const SLOW = { validatingMs: HOUR_MS, inProgressMs: HOUR_MS, finalizingMs: HOUR_MS, cancellingMs: HOUR_MS };

test('goes through validating, in_progress and finalizing, dating each state as it is entered', async () => {
  const { client, control } = await startOpenAi(SLOW);
  const created = await submit(client, chatLines(prompts(4)), { token: 'abc' });
  expect(created).toMatchObject({
    id: expect.stringMatching(/^batch_/),
    object: 'batch',
    status: 'validating',
    endpoint: '/v1/chat/completions',
    completion_window: '24h',
    metadata: { token: 'abc' },
    errors: null,
    output_file_id: null,
    error_file_id: null,
    in_progress_at: null,
    request_counts: { total: 0, completed: 0, failed: 0 },
    expires_at: created.created_at + 86_400,
  });

  await control.advance(HOUR_MS);
  const running = await reached(client, created.id, ['in_progress']);
  expect(running).toMatchObject({
    in_progress_at: created.created_at + 3_600,
    finalizing_at: null,
    request_counts: { total: 4, completed: 0 },
    model: 'gpt-4o-mini',
  });
  await control.advance(HOUR_MS / 2);
  expect((await client.batches.retrieve(created.id)).request_counts).toEqual({ total: 4, completed: 2, failed: 0 });

  await control.advance(HOUR_MS / 2);
  const finalizing = await reached(client, created.id, ['finalizing']);
  expect(finalizing).toMatchObject({ completed_at: null, output_file_id: null, request_counts: { completed: 4 } });

  await control.advance(HOUR_MS);
  const completed = await reached(client, created.id);
  expect(completed).toMatchObject({
    status: 'completed',
    finalizing_at: created.created_at + 2 * 3_600,
    completed_at: created.created_at + 3 * 3_600,
    request_counts: { total: 4, completed: 4, failed: 0 },
    error_file_id: null,
  });
  expect(completed.usage?.total_tokens).toBeGreaterThan(0);
});

test('never lets a count go down', async () => {
  const { client } = await startOpenAi({ ...AT_ONCE, itemsPerSecond: 2_000 });
  const { id } = await submit(
    client,
    chatLines(prompts(200).map((text, n) => (n % 3 ? text : `${text} [[sim:invalid]]`))),
  );
  const seen: { completed: number; failed: number }[] = [];
  await vi.waitFor(
    async () => {
      const batch = await client.batches.retrieve(id);
      if (batch.request_counts) seen.push(batch.request_counts);
      expect(batch.status).toBe('completed');
    },
    { timeout: 5_000, interval: 2 },
  );
  for (const name of ['completed', 'failed'] as const) {
    const counts = seen.map((each) => each[name]);
    expect(counts).toEqual(counts.toSorted((a, b) => a - b));
  }
  expect(seen.at(-1)).toEqual({ total: 200, completed: 133, failed: 67 });
});

test('writes successes and refusals to two files, in another order than the input', async () => {
  const { client } = await startOpenAi();
  const texts = prompts(40).map((text, n) => (n % 10 === 0 ? `${text} [[sim:error=rate_limit]]` : text));
  const batch = await reached(client, (await submit(client, chatLines(texts))).id);
  const [output, errors] = [
    await fileLines(client, batch.output_file_id),
    await fileLines(client, batch.error_file_id),
  ];
  expect(batch.request_counts).toEqual({ total: 40, completed: 36, failed: 4 });
  expect([output.length, errors.length]).toEqual([36, 4]);
  expect(output[0]).toMatchObject({
    id: expect.stringMatching(/^batch_req_/),
    error: null,
    response: { status_code: 200, body: { object: 'chat.completion' } },
  });
  expect(errors[0]).toMatchObject({
    error: null,
    response: { status_code: 429, body: { error: { code: 'rate_limit_exceeded' } } },
  });
  const order = output.map((line) => Number(line.custom_id.slice('item-'.length)));
  expect(order).not.toEqual(order.toSorted((a, b) => a - b));
});

test('completes with only an error file when every item was refused', async () => {
  const { client } = await startOpenAi();
  const batch = await reached(
    client,
    (await submit(client, chatLines(['[[sim:invalid]]', '[[sim:error=overloaded]]']))).id,
  );
  expect(batch).toMatchObject({
    status: 'completed',
    output_file_id: null,
    request_counts: { completed: 0, failed: 2 },
  });
  expect(await idsIn(client, batch.error_file_id)).toEqual(['item-0', 'item-1']);
});

test('drops and doubles the lines a prompt asks for', async () => {
  const { client } = await startOpenAi();
  const texts = ['a', '[[sim:missing]]', '[[sim:duplicate]]'];
  const batch = await reached(client, (await submit(client, chatLines(texts))).id);
  expect(await idsIn(client, batch.output_file_id)).toEqual(['item-0', 'item-2', 'item-2']);
  expect(batch.request_counts).toEqual({ total: 3, completed: 3, failed: 0 });
});

test('holds a directive marked once for the first batch alone', async () => {
  const { client } = await startOpenAi();
  const lines = chatLines(['[[sim:once]][[sim:invalid]]', '[[sim:invalid]]']);
  const first = await reached(client, (await submit(client, lines)).id);
  const second = await reached(client, (await submit(client, lines)).id);
  expect([first.request_counts?.failed, second.request_counts?.failed]).toEqual([2, 1]);
  expect(await idsIn(client, second.output_file_id)).toEqual(['item-0']);
});

test('expires as soon as everything but a hanging item is done', async () => {
  const { client } = await startOpenAi();
  const batch = await reached(client, (await submit(client, chatLines(['a', '[[sim:expire]]', 'c']))).id);
  expect(batch).toMatchObject({ status: 'expired', request_counts: { total: 3, completed: 2, failed: 0 } });
  expect(batch.expired_at).toBeGreaterThan(0);
  expect(await idsIn(client, batch.output_file_id)).toEqual(['item-0', 'item-2']);
  expect(await fileLines(client, batch.error_file_id)).toMatchObject([
    { custom_id: 'item-1', response: null, error: { code: 'batch_expired' } },
  ]);
});

test('expires at the end of its window with what was finished', async () => {
  const { client, control } = await startOpenAi({ ...AT_ONCE, inProgressMs: 3 * DAY_MS });
  const { id } = await submit(client, chatLines(prompts(8)));
  const running = await reached(client, id, ['in_progress']);
  await control.advance(DAY_MS);
  const batch = await reached(client, id);
  expect(batch.status).toBe('expired');
  // Whole seconds of a batch that was made within one.
  expect([0, 1]).toContain((batch.expired_at ?? 0) - (running.expires_at ?? 0));
  expect(batch.request_counts).toEqual({ total: 8, completed: 2, failed: 0 });
  expect(await idsIn(client, batch.output_file_id)).toHaveLength(2);
  expect(await idsIn(client, batch.error_file_id)).toHaveLength(6);
});

test('cancels after a while, letting some items finish, and keeps both files', async () => {
  const { client, control } = await startOpenAi({ ...AT_ONCE, inProgressMs: 10 * HOUR_MS, cancellingMs: HOUR_MS });
  const { id } = await submit(client, chatLines(prompts(10)));
  await reached(client, id, ['in_progress']);
  await control.advance(4 * HOUR_MS);
  const cancelling = await client.batches.cancel(id);
  expect(cancelling).toMatchObject({ status: 'cancelling', cancelled_at: null, request_counts: { completed: 4 } });
  expect((await client.batches.cancel(id)).status).toBe('cancelling');
  await control.advance(HOUR_MS);
  const batch = await reached(client, id);
  expect(batch).toMatchObject({
    status: 'cancelled',
    cancelled_at: (cancelling.cancelling_at ?? 0) + 3_600,
    request_counts: { total: 10, completed: 5, failed: 0 },
  });
  expect(await idsIn(client, batch.output_file_id)).toHaveLength(5);
  expect(await fileLines(client, batch.error_file_id)).toMatchObject(
    Array.from({ length: 5 }, () => ({ response: null, error: { code: 'batch_cancelled' } })),
  );
  expect((await client.batches.cancel(id)).status).toBe('cancelled');
});

test('cancels a batch still in validation with nothing finished', async () => {
  const { client } = await startOpenAi({ ...AT_ONCE, validatingMs: HOUR_MS });
  const { id } = await submit(client, chatLines(prompts(3)));
  await client.batches.cancel(id);
  const batch = await reached(client, id);
  expect(batch).toMatchObject({ status: 'cancelled', output_file_id: null, request_counts: { completed: 0 } });
  expect(await idsIn(client, batch.error_file_id)).toHaveLength(3);
});

test.for([
  { cancelEndedStatus: 409, status: 409 },
  { cancelEndedStatus: 400, status: 400 },
] as const)('refuses to cancel a completed batch with $status when set so', async ({ cancelEndedStatus, status }) => {
  const { client } = await startOpenAi({ ...AT_ONCE, cancelEndedStatus });
  const { id } = await reached(client, (await submit(client, chatLines(['a']))).id);
  await expect(client.batches.cancel(id)).rejects.toMatchObject({ status });
  expect((await client.batches.retrieve(id)).status).toBe('completed');
});

test('answers a cancel that came too late with the completed batch when set so', async () => {
  const { client } = await startOpenAi({ ...AT_ONCE, cancelEndedStatus: 200 });
  const { id } = await reached(client, (await submit(client, chatLines(['a']))).id);
  expect((await client.batches.cancel(id)).status).toBe('completed');
});

const good = { input_file_id: '', endpoint: '/v1/chat/completions', completion_window: '24h' };
test.for([
  { name: 'an unknown file', body: { ...good, input_file_id: 'file-none' }, param: 'input_file_id' },
  { name: 'no file', body: { ...good, input_file_id: undefined }, param: 'input_file_id' },
  { name: 'a bad window', body: { ...good, completion_window: '48h' }, param: 'completion_window' },
  { name: 'a bad endpoint', body: { ...good, endpoint: '/v1/nonsense' }, param: 'endpoint' },
  { name: 'metadata that is no text', body: { ...good, metadata: { a: 1 } }, param: 'metadata.a' },
  {
    name: 'too much metadata',
    body: { ...good, metadata: Object.fromEntries(prompts(17).map((key) => [key, ''])) },
    param: 'metadata',
  },
  { name: 'an unknown parameter', body: { ...good, priority: 1 }, param: 'priority' },
])('refuses to create with $name', async ({ body, param }) => {
  const { client } = await startOpenAi();
  const file = await upload(client, chatLines(['a']));
  const create = { ...body, input_file_id: body.input_file_id === '' ? file.id : body.input_file_id };
  await expect(client.batches.create(create as BatchCreateParams)).rejects.toMatchObject({ status: 400, param });
  expect((await client.batches.list()).data).toEqual([]);
});

test('refuses to create over a file of another purpose', async () => {
  const { client } = await startOpenAi();
  const file = await client.files.create({ purpose: 'user_data', file: new File(['{}'], 'a.jsonl') });
  await expect(
    client.batches.create({ input_file_id: file.id, endpoint: '/v1/chat/completions', completion_window: '24h' }),
  ).rejects.toMatchObject({ status: 400, param: 'input_file_id' });
});

test('lists batches newest first, page by page, with their metadata', async () => {
  const { client } = await startOpenAi();
  const created: string[] = [];
  for (const number of ['1', '2', '3', '4', '5']) {
    created.push((await submit(client, chatLines(['a']), { number })).id);
  }
  const page = await client.batches.list({ limit: 2 });
  expect(page).toMatchObject({
    has_more: true,
    data: [{ metadata: { number: '5' } }, { metadata: { number: '4' } }],
    body: { object: 'list', first_id: created[4], last_id: created[3] },
  });
  const all = await Array.fromAsync(client.batches.list({ limit: 2 }));
  expect(all.map(({ id }) => id)).toEqual(created.toReversed());
  const rest = await client.batches.list({ after: created[1] ?? '' });
  expect(rest).toMatchObject({ has_more: false, data: [{ id: created[0] }] });
  await expect(client.batches.list({ limit: 101 })).rejects.toMatchObject({ status: 400, param: 'limit' });
});

test('does not know a batch nobody created', async () => {
  const { client } = await startOpenAi();
  await expect(client.batches.retrieve('batch_none')).rejects.toMatchObject({ status: 404 });
  await expect(client.batches.cancel('batch_none')).rejects.toMatchObject({ status: 404 });
});
