import { expect, test } from 'vitest';
import { AT_ONCE, chatLines, prompts, reached, startOpenAi, submit } from './testing/harness.ts';

const [first = '', second = '', third = ''] = chatLines(prompts(3));

test.for([
  { name: 'a line that is no JSON', lines: [first, '{', third], errors: [{ code: 'invalid_json_line', line: 2 }] },
  {
    name: 'a repeated id',
    lines: [first, second, first],
    errors: [{ code: 'duplicate_custom_id', line: 3, param: 'custom_id' }],
  },
  {
    name: 'a line for another endpoint',
    lines: [first, second.replace('chat/completions', 'responses')],
    errors: [{ code: 'url_mismatch', line: 2, param: 'url' }],
  },
  {
    name: 'a second model',
    lines: [first, second.replace('gpt-4o-mini', 'gpt-4o')],
    errors: [{ code: 'mismatched_model', line: 2, param: 'body.model' }],
  },
  { name: 'an unknown model', lines: chatLines(['a'], 'unknown-9'), errors: [{ code: 'model_not_found', line: 1 }] },
  { name: 'no line', lines: [], errors: [{ code: 'empty_file', line: null }] },
  { name: 'blank lines alone', lines: ['', ' ', ''], errors: [{ code: 'empty_file', line: null }] },
  {
    name: 'a line marked invalid, after a blank one',
    lines: ['', ...chatLines(['a', '[[sim:invalid_line]]'])],
    errors: [{ code: 'invalid_request', line: 3 }],
  },
  {
    name: 'several bad lines',
    lines: ['nonsense', first, '[]'],
    errors: [
      { code: 'invalid_json_line', line: 1 },
      { code: 'invalid_json_line', line: 3 },
    ],
  },
])('accepts and then fails a batch with $name', async ({ lines, errors }) => {
  const { client } = await startOpenAi();
  const created = await submit(client, lines);
  expect(created.status).toBe('validating');
  const batch = await reached(client, created.id);
  expect(batch).toMatchObject({
    status: 'failed',
    errors: { object: 'list', data: errors },
    output_file_id: null,
    error_file_id: null,
    in_progress_at: null,
    request_counts: { total: 0, completed: 0, failed: 0 },
  });
  expect(batch.failed_at).toBeGreaterThan(0);
  expect(batch.errors?.data?.every(({ message }) => (message ?? '').length > 0)).toBe(true);
});

test('takes blank lines and any line end', async () => {
  const { client } = await startOpenAi();
  const batch = await reached(client, (await submit(client, [`${first}\r`, '', second, '', ''])).id);
  expect(batch).toMatchObject({ status: 'completed', request_counts: { total: 2, completed: 2 } });
});

test('fails a batch with more lines than the limit', async () => {
  const { client } = await startOpenAi({ ...AT_ONCE, maxLines: 2 });
  const over = await reached(client, (await submit(client, [first, second, third])).id);
  const full = await reached(client, (await submit(client, [first, second])).id);
  expect(over.errors?.data).toMatchObject([{ code: 'too_many_tasks', line: null }]);
  expect(full.status).toBe('completed');
});

test('lists no more errors than the limit', async () => {
  const { client } = await startOpenAi({ ...AT_ONCE, maxListedErrors: 3 });
  const batch = await reached(client, (await submit(client, ['a', 'b', 'c', 'd', 'e'])).id);
  expect(batch.errors?.data?.map(({ line }) => line)).toEqual([1, 2, 3]);
});

test('fails a batch for which the queue of its model is full, and takes it when there is room', async () => {
  const { client, control } = await startOpenAi({ ...AT_ONCE, inProgressMs: 3_600_000, enqueuedTokenLimit: 100 });
  const lines = (model: string) => chatLines(['x'.repeat(240)], model);
  const running = await submit(client, lines('gpt-4o'));
  await reached(client, running.id, ['in_progress']);

  const full = await reached(client, (await submit(client, lines('gpt-4o'))).id);
  expect(full).toMatchObject({ status: 'failed', errors: { data: [{ code: 'token_limit_exceeded', line: null }] } });
  expect(full.errors?.data?.[0]?.message).toContain('100');
  const other = await submit(client, lines('gpt-4o-mini'));
  await reached(client, other.id, ['in_progress']);

  await control.advance(3_600_000);
  await reached(client, running.id);
  const again = await client.batches.create({
    input_file_id: full.input_file_id,
    endpoint: '/v1/chat/completions',
    completion_window: '24h',
  });
  await reached(client, again.id, ['in_progress']);
});

test('fails a batch that alone is too large for the queue of its model', async () => {
  const { client } = await startOpenAi({ ...AT_ONCE, enqueuedTokenLimits: { 'gpt-4o-mini': 2 } });
  const batch = await reached(client, (await submit(client, chatLines(prompts(2)))).id);
  expect(batch.errors?.data).toMatchObject([{ code: 'token_limit_exceeded' }]);
});

test('runs a full batch of 50,000 lines', async () => {
  const { client } = await startOpenAi();
  const batch = await reached(client, (await submit(client, chatLines(prompts(50_000)))).id);
  expect(batch).toMatchObject({ status: 'completed', request_counts: { total: 50_000, completed: 50_000 } });
  const text = await (await client.files.content(batch.output_file_id ?? '')).text();
  expect(new Set(text.match(/"custom_id":"item-\d+"/g)).size).toBe(50_000);
}, 60_000);
