import { expect, test } from 'vitest';
import {
  AT_ONCE,
  chatLines,
  fileLines,
  fileText,
  idsIn,
  prompts,
  reached,
  startOpenAi,
  submit,
} from './testing/harness.ts';

const provider = 'openai';
const DAY_MS = 86_400_000;

test.for([
  { status: 'failed' as const, unfinished: 0 },
  { status: 'expired' as const, unfinished: 3 },
  { status: 'cancelled' as const, unfinished: 3 },
  { status: 'completed' as const, unfinished: 0 },
])('ends a batch as $status with two of five items', async ({ status, unfinished }) => {
  const { client, control } = await startOpenAi();
  await control.faults({ provider, route: 'batches.create', action: { end_state: { status, finished: 2 } } });
  const batch = await reached(client, (await submit(client, chatLines(prompts(5)))).id);
  expect(batch).toMatchObject({ status, request_counts: { total: 5, completed: 2, failed: 0 } });
  expect(await idsIn(client, batch.output_file_id)).toEqual(['item-0', 'item-1']);
  expect(await idsIn(client, batch.error_file_id)).toHaveLength(unfinished);
});

test('fails the first create with a full queue and takes the second', async () => {
  const { client, control } = await startOpenAi();
  const errors = [{ code: 'token_limit_exceeded', message: 'Enqueued token limit reached.' }];
  const action = { end_state: { status: 'failed' as const, errors } };
  await control.faults({ provider, route: 'batches.create', action });
  const first = await reached(client, (await submit(client, chatLines(['a']))).id);
  expect(first).toMatchObject({ status: 'failed', errors: { data: errors }, output_file_id: null });
  expect((await reached(client, (await submit(client, chatLines(['a']))).id)).status).toBe('completed');
});

test('expires a batch before its first item', async () => {
  const { client, control } = await startOpenAi();
  const action = { end_state: { status: 'expired' as const, finished: 0 } };
  await control.faults({ provider, route: 'batches.create', action });
  const batch = await reached(client, (await submit(client, chatLines(prompts(3)))).id);
  expect(batch).toMatchObject({ status: 'expired', output_file_id: null, request_counts: { completed: 0, failed: 0 } });
  expect(await idsIn(client, batch.error_file_id)).toHaveLength(3);
});

test('expires without listing what was not run when told so', async () => {
  const { client, control } = await startOpenAi();
  const action = { end_state: { status: 'expired' as const, finished: 0, list_unfinished: false } };
  await control.faults({ provider, route: 'batches.create', action });
  const batch = await reached(client, (await submit(client, chatLines(prompts(3)))).id);
  expect(batch).toMatchObject({ status: 'expired', output_file_id: null, error_file_id: null });
});

test('stands still at five of ten until it is cancelled', async () => {
  const { client, control } = await startOpenAi();
  const action = { stuck: { state: 'in_progress' as const, finished: 5 } };
  await control.faults({ provider, route: 'batches.create', action });
  const { id } = await submit(client, chatLines(prompts(10)));
  await reached(client, id, ['in_progress']);
  await expect.poll(async () => (await client.batches.retrieve(id)).request_counts?.completed).toBe(5);
  await control.advance(DAY_MS / 2);
  expect((await client.batches.retrieve(id)).status).toBe('in_progress');
  await client.batches.cancel(id);
  const batch = await reached(client, id);
  expect(batch).toMatchObject({ status: 'cancelled', request_counts: { total: 10, completed: 5, failed: 0 } });
  expect(await idsIn(client, batch.output_file_id)).toHaveLength(5);
  expect(await idsIn(client, batch.error_file_id)).toHaveLength(5);
});

test('stays cancelling for as long as it is stuck there', async () => {
  const { client, control } = await startOpenAi({ ...AT_ONCE, inProgressMs: DAY_MS });
  const action = { stuck: { state: 'cancelling' as const, for_ms: 600_000 } };
  await control.faults({ provider, route: 'batches.create', action });
  const { id } = await submit(client, chatLines(prompts(3)));
  await client.batches.cancel(id);
  await control.advance(500_000);
  expect((await client.batches.retrieve(id)).status).toBe('cancelling');
  await control.advance(100_000);
  await reached(client, id, ['cancelled']);
});

test('completes in spite of a cancel when that is its scripted end', async () => {
  const { client, control } = await startOpenAi({ ...AT_ONCE, inProgressMs: DAY_MS });
  const action = { end_state: { status: 'completed' as const } };
  await control.faults({ provider, route: 'batches.create', action });
  const { id } = await submit(client, chatLines(prompts(3)));
  await reached(client, id, ['in_progress']);
  expect((await client.batches.cancel(id)).status).toBe('cancelling');
  const batch = await reached(client, id);
  expect(batch).toMatchObject({ status: 'completed', request_counts: { completed: 3 } });
});

test('lists a batch only after its lag, though it can be retrieved', async () => {
  const { client, control } = await startOpenAi();
  await control.faults({ provider, route: 'batches.create', action: { list_lag_ms: 60_000 } });
  const { id } = await submit(client, chatLines(['a']));
  expect((await client.batches.retrieve(id)).id).toBe(id);
  expect((await client.batches.list()).data).toEqual([]);
  await control.advance(60_000);
  expect((await client.batches.list()).data).toHaveLength(1);
});

test('lets the operator of the console cancel, end, hold and release a batch', async () => {
  const { client, control } = await startOpenAi({ ...AT_ONCE, inProgressMs: DAY_MS });
  const create = async () => reached(client, (await submit(client, chatLines(prompts(4)))).id, ['in_progress']);

  const cancelled = await create();
  expect(await control.batch(cancelled.id, { cancel: true })).toMatchObject({ status: 'cancelling' });
  await reached(client, cancelled.id, ['cancelled']);

  const failed = await create();
  await control.batch(failed.id, { end_state: { status: 'failed', finished: 2, errors: [{ code: 'lost' }] } });
  expect(await reached(client, failed.id)).toMatchObject({
    status: 'failed',
    errors: { data: [{ code: 'lost' }] },
    request_counts: { completed: 2 },
  });

  const held = await create();
  await control.batch(held.id, { stuck: { state: 'in_progress', finished: 1, past_expiry: true } });
  await control.advance(2 * DAY_MS);
  expect(await client.batches.retrieve(held.id)).toMatchObject({
    status: 'in_progress',
    request_counts: { completed: 1 },
  });
  await control.batch(held.id, { stuck: null });
  expect((await reached(client, held.id)).status).toMatch(/completed|expired/);

  await expect(control.batch('batch_none', { cancel: true })).rejects.toThrow('404');
  expect((await control.batches())['openai']).toHaveLength(3);
});

test('writes damaged result files, the same at every download', async () => {
  const { client, control } = await startOpenAi();
  const action = {
    omit_lines: { index: [0] },
    duplicate_lines: { index: [0] },
    empty_body_lines: { containing: ['item-2'] },
    zero_status_lines: { containing: ['item-3'], to: 'error' as const },
    invalid_utf8_lines: { containing: ['item-4'] },
    append_raw_lines: ['{"custom_id":null}', 'nonsense'],
    half_last_line: 'output' as const,
  };
  await control.faults({ provider, route: 'batch:results', action });
  const batch = await reached(client, (await submit(client, chatLines(prompts(6)))).id);
  const text = await fileText(client, batch.output_file_id);
  const lines = text.split('\n');
  expect(lines.at(-1)).toBe('nonse');
  expect(lines.at(-2)).toBe('{"custom_id":null}');
  expect(lines.filter((line) => line.includes('"item-1"'))).toHaveLength(2);
  expect(lines.filter((line) => line.includes('"item-0"'))).toHaveLength(0);
  expect(lines.find((line) => line.includes('"item-2"'))).toContain('"status_code":200');
  expect(JSON.parse(lines.find((line) => line.includes('"item-2"')) ?? '').response.body).toEqual({});
  expect(lines.find((line) => line.includes('item-4'))).toContain('\uFFFD');
  expect(await fileLines(client, batch.error_file_id)).toMatchObject([
    { custom_id: 'item-3', response: { status_code: 0, request_id: '', body: {} }, error: null },
  ]);
  expect(batch.request_counts).toEqual({ total: 6, completed: 6, failed: 0 });
  expect(await fileText(client, batch.output_file_id)).toBe(text);
});

test('withholds either file', async () => {
  const { client, control } = await startOpenAi();
  await control.faults(
    { provider, route: 'batch:results', action: { no_output_file: true } },
    { provider, route: 'batch:results', action: { no_error_file: true, no_output_file: true } },
  );
  const lines = chatLines(['a', '[[sim:invalid]]']);
  const first = await reached(client, (await submit(client, lines)).id);
  expect(first).toMatchObject({
    status: 'completed',
    output_file_id: null,
    request_counts: { completed: 1, failed: 1 },
  });
  expect(await idsIn(client, first.error_file_id)).toEqual(['item-1']);
  const second = await reached(client, (await submit(client, lines)).id);
  expect(second).toMatchObject({ output_file_id: null, error_file_id: null });
  expect((await client.files.list({ purpose: 'batch_output' })).data).toHaveLength(1);
});
