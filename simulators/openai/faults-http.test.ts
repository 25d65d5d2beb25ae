import { once } from 'node:events';
import { request } from 'node:http';
import OpenAI from 'openai';
import { expect, test } from 'vitest';
import { AT_ONCE, chatLines, prompts, reached, startOpenAi, submit, upload } from './testing/harness.ts';

const provider = 'openai';
const route = 'batches.create';
const CREATE = { endpoint: '/v1/chat/completions', completion_window: '24h' } as const;

test.for([
  { action: { drop_before: true as const }, batches: 0 },
  { action: { drop_after: true as const }, batches: 1 },
])('drops the connection of a create by $action, leaving $batches batch', async ({ action, batches }) => {
  const { client, control } = await startOpenAi();
  const { id } = await upload(client, chatLines(['a']));
  await control.faults({ provider, route, action });
  await expect(client.batches.create({ ...CREATE, input_file_id: id })).rejects.toBeInstanceOf(
    OpenAI.APIConnectionError,
  );
  const listed = await client.batches.list();
  expect(listed.data.map((batch) => batch.input_file_id)).toEqual(Array(batches).fill(id));
  const [create] = await control.journal({ route });
  expect(create).toMatchObject({ status: null, fault: Object.keys(action), facts: { input_file_id: id } });
});

test('makes three batches of one create that the SDK retries', async () => {
  const { client, control } = await startOpenAi();
  const { id } = await upload(client, chatLines(['a']));
  await control.faults(
    { provider, route, action: { drop_after: true } },
    { provider, route, action: { status_after: 500 } },
  );
  await client.withOptions({ maxRetries: 2 }).batches.create({ ...CREATE, input_file_id: id });
  expect((await client.batches.list()).data).toHaveLength(3);
});

test.for([
  { status: 500, type: OpenAI.InternalServerError },
  { status: 504, type: OpenAI.InternalServerError },
])('acts and then answers $status', async ({ status, type }) => {
  const { client, control } = await startOpenAi();
  const { id } = await upload(client, chatLines(['a']));
  await control.faults({ provider, route, action: { status_after: status } });
  await expect(client.batches.create({ ...CREATE, input_file_id: id })).rejects.toBeInstanceOf(type);
  expect((await client.batches.list()).data).toHaveLength(1);
});

test('answers a status with headers and its usual error, without acting', async () => {
  const { client, control } = await startOpenAi();
  const { id } = await upload(client, chatLines(['a']));
  const headers = { 'retry-after': '7' };
  await control.faults({ provider, route, times: 2, action: { status: 429, headers } });
  const create = () =>
    client.batches.create({ ...CREATE, input_file_id: id }).then(
      () => undefined,
      (error: unknown) => error,
    );
  for (const error of [await create(), await create()]) {
    expect(error).toBeInstanceOf(OpenAI.RateLimitError);
    expect(error).toMatchObject({ code: 'rate_limit_exceeded' });
    expect((error as InstanceType<typeof OpenAI.RateLimitError>).headers?.get('retry-after')).toBe('7');
  }
  expect(await create()).toBeUndefined();
  expect((await client.batches.list()).data).toHaveLength(1);
});

test('answers the body it is given', async () => {
  const { client, control } = await startOpenAi();
  const error = { message: 'no credit', type: 'insufficient_quota', param: null, code: 'credit_balance_exhausted' };
  await control.faults({ provider, route: 'files.list', action: { status: 429, body: { error } } });
  await expect(client.files.list()).rejects.toMatchObject({ status: 429, type: 'insufficient_quota' });
});

test('answers a page that is no JSON with 200, which the SDK gives as a string', async () => {
  const { client, control } = await startOpenAi();
  const { id } = await submit(client, chatLines(['a']));
  const page = { status: 200, body: '<html>', headers: { 'content-type': 'text/html' } };
  await control.faults({ provider, route: 'batches.retrieve', action: page });
  expect(await client.batches.retrieve(id)).toBe('<html>');
});

test('answers the true reply under another content type', async () => {
  const { client, control } = await startOpenAi();
  const { id } = await submit(client, chatLines(['a']));
  const action = { headers: { 'content-type': 'text/plain' } };
  await control.faults({ provider, route: 'batches.retrieve', action });
  expect(await client.batches.retrieve(id)).toContain(id);
});

test('answers 404 just after create, then the batch, then 404 again', async () => {
  const { client, control } = await startOpenAi();
  await control.faults(
    { provider, route: 'batches.retrieve', action: { not_found: true } },
    { provider, route: 'batches.retrieve', skip: 2, action: { not_found: true } },
  );
  const { id } = await submit(client, chatLines(['a']));
  const statuses: number[] = [];
  for (let call = 0; call < 4; call += 1) {
    const { status } = await client.batches
      .retrieve(id)
      .asResponse()
      .catch((error: { status: number }) => error);
    statuses.push(status);
  }
  expect(statuses).toEqual([404, 200, 404, 200]);
});

test('answers 200 with an error object', async () => {
  const { client, control } = await startOpenAi();
  const { id } = await submit(client, chatLines(['a']));
  await control.faults({ provider, route: 'batches.retrieve', action: { error_object_200: true } });
  expect(await client.batches.retrieve(id)).toMatchObject({ error: { type: 'server_error' } });
});

test.for([
  { action: { delay_ms: 3_600_000 }, actsAtOnce: true },
  { action: { delay_before_ms: 3_600_000 }, actsAtOnce: false },
])('answers late by $action until the clock is moved', async ({ action, actsAtOnce }) => {
  const { client, control } = await startOpenAi({ ...AT_ONCE, inProgressMs: 86_400_000 });
  const { id } = await upload(client, chatLines(['a']));
  await control.faults({ provider, route, action });
  const creating = client.batches.create({ ...CREATE, input_file_id: id });
  await expect.poll(() => control.journal({ route })).toMatchObject([{ fault: Object.keys(action) }]);
  expect((await client.batches.list()).data).toHaveLength(actsAtOnce ? 1 : 0);
  await control.advance(3_600_000);
  const created = await creating;
  const retrieved = await client.batches.retrieve(created.id);
  const { ahead_ms: aheadMs } = await control.clock();
  const actedLater = retrieved.created_at * 1000 > Date.now() + aheadMs / 2;
  expect(actedLater).toBe(!actsAtOnce);
});

test('delays by real time when told to', async () => {
  const { client, control } = await startOpenAi();
  await control.faults({ provider, route: 'files.list', action: { delay_ms: 60, delay_clock: 'real' } });
  const started = performance.now();
  const listing = client.files.list();
  await control.advance(3_600_000);
  await listing;
  expect(performance.now() - started).toBeGreaterThanOrEqual(59);
});

test('drops an upload halfway', async () => {
  const { client, control } = await startOpenAi();
  await control.faults({ provider, route: 'files.create', action: { cut: { after_bytes: 100_000 } } });
  await expect(upload(client, ['x'.repeat(30_000_000)])).rejects.toBeInstanceOf(OpenAI.APIConnectionError);
  expect((await client.files.list()).data).toEqual([]);
});

test('answers a refused upload only when all of it was sent, so that the client hears the answer', async () => {
  const { control, simulators } = await startOpenAi();
  await control.faults({ provider, route: 'files.create', action: { status: 503 } });
  const headers = { authorization: 'Bearer sk-test', 'transfer-encoding': 'chunked' };
  const sending = request(`${simulators.openaiUrl}/files`, { method: 'POST', headers });
  let status: number | undefined;
  const answered = once(sending, 'response').then(([response]) => {
    status = response.statusCode;
  });
  sending.write('the first half');
  await expect.poll(() => control.journal()).toMatchObject([{ fault: ['status'] }]);
  await control.clock();
  expect(status).toBeUndefined();
  sending.end('the second half');
  await answered;
  expect(status).toBe(503);
});

test('refuses an upload whose body it has not read', async () => {
  const { client, control } = await startOpenAi();
  await control.faults({ provider, route: 'files.create', action: { status: 503 } });
  await expect(upload(client, ['x'.repeat(30_000_000)])).rejects.toMatchObject({ status: 503 });
});

test('strikes the calls a fault matches and no others', async () => {
  const { client, control } = await startOpenAi();
  const [spared, struck] = [
    await submit(client, chatLines(['a']), { token: 'job-1' }),
    await submit(client, chatLines(['a']), { token: 'job-2' }),
  ];
  const match = { metadata: { token: '2' } };
  await control.faults({ provider, route: 'batches.retrieve', times: 'always', match, action: { status: 500 } });
  expect((await reached(client, spared.id)).status).toBe('completed');
  await expect(client.batches.retrieve(struck.id)).rejects.toMatchObject({ status: 500 });
  await control.clearFaults();
  expect((await reached(client, struck.id)).status).toBe('completed');
});

test('shows counts and states as a fault wants them', async () => {
  const { client, control } = await startOpenAi();
  const { id } = await reached(client, (await submit(client, chatLines(prompts(3)))).id);
  const shows = async (action: Parameters<typeof control.faults>[0]['action']) => {
    await control.faults({ provider, route: 'batches.retrieve', action });
    return client.batches.retrieve(id);
  };
  expect((await shows({ counts: 'zero' })).request_counts).toEqual({ total: 0, completed: 0, failed: 0 });
  expect((await shows({ counts: 'strings' })).request_counts).toEqual({ total: '3', completed: '3', failed: '0' });
  expect(await shows({ counts: 'absent' })).not.toHaveProperty('request_counts');
  expect((await shows({ counts: { completed: 99 } })).request_counts).toEqual({ total: 3, completed: 99, failed: 0 });
  expect((await shows({ native_status: 'paused' })).status).toBe('paused');
  expect(await client.batches.retrieve(id)).toMatchObject({ status: 'completed', request_counts: { completed: 3 } });
});
