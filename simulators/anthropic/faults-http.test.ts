import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import Anthropic from '@anthropic-ai/sdk';
import { expect, test } from 'vitest';
import { AT_ONCE, ask, call, ended, linesOf, prompts, startAnthropic, submit } from './testing/harness.ts';
import { stateFolder } from './testing/state-folder.ts';

const provider = 'anthropic';
const route = 'batches.create';

test.for([
  { action: { drop_before: true as const }, batches: 0 },
  { action: { drop_after: true as const }, batches: 1 },
])('drops the connection of a create by $action, leaving $batches batch', async ({ action, batches }) => {
  const { client, control } = await startAnthropic();
  await control.faults({ provider, route, match: { first_custom_id: 'item-0' }, action });
  await expect(submit(client, ['a'])).rejects.toBeInstanceOf(Anthropic.APIConnectionError);
  expect((await client.messages.batches.list()).data).toHaveLength(batches);
  expect(await control.journal({ route })).toMatchObject([
    { status: null, fault: Object.keys(action), facts: { items: 1 } },
  ]);
});

test('makes three batches of one create that the SDK retries', async () => {
  const { client, control } = await startAnthropic();
  await control.faults(
    { provider, route, action: { drop_after: true } },
    { provider, route, action: { status_after: 529 } },
  );
  await submit(client.withOptions({ maxRetries: 2 }), ['a']);
  expect((await client.messages.batches.list()).data).toHaveLength(3);
  expect((await control.journal({ route })).map(({ facts }) => facts['retry_count'])).toEqual([0, 1, 2]);
});

test.for([
  { status: 429, type: 'rate_limit_error' },
  { status: 500, type: 'api_error' },
  { status: 529, type: 'overloaded_error' },
  { status: 402, type: 'billing_error' },
  { status: 413, type: 'request_too_large' },
])('answers $status with its usual error, without acting', async ({ status, type }) => {
  const { client, control } = await startAnthropic();
  await control.faults({ provider, route, action: { status, headers: { 'retry-after': '7' } } });
  const error = await submit(client, ['a']).catch((caught: unknown) => caught);
  if (!(error instanceof Anthropic.APIError)) throw new Error('the create was taken');
  expect(error).toMatchObject({ status, type });
  expect(error.headers?.get('retry-after')).toBe('7');
  expect((await client.messages.batches.list()).data).toEqual([]);
});

test('tells a spend limit from a rate limit by its details', async () => {
  const { client, control } = await startAnthropic();
  const body = {
    type: 'error',
    error: { type: 'rate_limit_error', message: 'Spent.', details: { error_code: 'enforced_spend_limit_reached' } },
    request_id: 'req_1',
  };
  await control.faults({ provider, route, action: { status: 429, body } });
  await expect(submit(client, ['a'])).rejects.toMatchObject({ errorCode: 'enforced_spend_limit_reached' });
});

test('does not find a batch just made, once', async () => {
  const { client, control } = await startAnthropic();
  await control.faults({ provider, route: 'batches.retrieve', action: { not_found: true } });
  const { id } = await submit(client, ['a']);
  await expect(client.messages.batches.retrieve(id)).rejects.toBeInstanceOf(Anthropic.NotFoundError);
  expect((await client.messages.batches.retrieve(id)).id).toBe(id);
});

test.for(['batches.list', 'batches.cancel', 'batches.delete', 'batches.results', 'messages.create', 'models.list'])(
  'strikes on %s',
  async (name) => {
    const { client, control, url } = await startAnthropic();
    const { id } = await submit(client, ['a']);
    await ended(client, id);
    const path = `/v1/messages/batches/${id}`;
    const body = JSON.stringify(ask('Hi'));
    const calls: Record<string, () => Promise<Response>> = {
      'batches.list': () => call(url, '/v1/messages/batches'),
      'batches.cancel': () => call(url, `${path}/cancel`, { method: 'POST' }),
      'batches.delete': () => call(url, path, { method: 'DELETE' }),
      'batches.results': () => call(url, `${path}/results`),
      'messages.create': () => call(url, '/v1/messages', { method: 'POST', body }),
      'models.list': () => call(url, '/v1/models'),
    };
    await control.faults({ provider, route: name, action: { status: 503 } });
    expect((await calls[name]?.())?.status).toBe(503);
    expect((await control.journal({ route: name })).map(({ status }) => status)).toEqual([503]);
  },
);

test('keeps nothing of a create it refused or dropped', async () => {
  const statePath = await stateFolder();
  const { client, control } = await startAnthropic({ ...AT_ONCE, queuedRequestLimit: 1 }, { statePath });
  await control.faults(
    { provider, route, action: { drop_before: true } },
    { provider, route, action: { status: 500 } },
  );
  await submit(client, ['a']).catch(() => undefined);
  await submit(client, ['a']).catch(() => undefined);
  await submit(client, ['a', 'b']).catch(() => undefined);
  await client.messages.batches.create({ requests: [] }).catch(() => undefined);
  expect(await readdir(join(statePath, 'anthropic', 'bytes'))).toEqual([]);
  const { id } = await submit(client, ['a']);
  await ended(client, id);
  expect(await readdir(join(statePath, 'anthropic', 'bytes'))).toHaveLength(1);
});

test('acts late on a create whose caller has given up', async () => {
  const { client, control } = await startAnthropic();
  await control.faults({ provider, route, action: { delay_before_ms: 60_000 } });
  const caller = new AbortController();
  const { signal } = caller;
  const attempt = client.messages.batches.create({ requests: [{ custom_id: 'a', params: ask('a') }] }, { signal });
  const givenUp = expect(attempt).rejects.toBeInstanceOf(Anthropic.APIUserAbortError);
  await expect.poll(async () => (await control.journal({ route })).length).toBe(1);
  caller.abort();
  await givenUp;
  await control.advance(60_000);
  await expect.poll(async () => (await client.messages.batches.list()).data.length).toBe(1);
  const [batch] = (await client.messages.batches.list()).data;
  await ended(client, batch?.id ?? '');
});

test('writes damaged results, the same at every download', async () => {
  const { client, control, url } = await startAnthropic();
  const action = {
    omit_lines: { index: [0] },
    duplicate_lines: { index: [0] },
    empty_body_lines: { containing: ['item-2'] },
    zero_status_lines: { containing: ['item-3'] },
    no_key_lines: { containing: ['item-5'] },
    invalid_utf8_lines: { containing: ['item-4'] },
    append_raw_lines: ['{"custom_id":null}', 'nonsense'],
    half_last_line: true as const,
  };
  await control.faults({ provider, route: 'batch:results', action });
  const { id } = await submit(client, prompts(6));
  expect((await ended(client, id)).request_counts).toMatchObject({ succeeded: 6 });
  const download = async () => (await call(url, `/v1/messages/batches/${id}/results`)).text();
  const text = await download();
  const lines = text.split('\n');
  expect(lines.slice(-2)).toEqual(['{"custom_id":null}', 'nonse']);
  expect(lines.filter((line) => line.includes('"item-0"'))).toHaveLength(0);
  expect(lines.filter((line) => line.includes('"item-1"'))).toHaveLength(2);
  expect(lines).toContain('{"custom_id":"item-2","result":{"type":"succeeded","message":{}}}');
  expect(lines).toContain('{"custom_id":"item-3","result":{}}');
  expect(lines.find((line) => line.includes('item-4'))).toContain('\uFFFD');
  expect(lines.filter((line) => line.startsWith('{"result":{"type":"succeeded"'))).toHaveLength(1);
  expect(await download()).toBe(text);
});

test('has empty results when every line is left out', async () => {
  const { client, control } = await startAnthropic();
  await control.faults({ provider, route: 'batch:results', action: { omit_lines: 9 } });
  const { id } = await submit(client, prompts(3));
  expect((await ended(client, id)).results_url).not.toBeNull();
  expect(await linesOf(client, id)).toEqual([]);
});

test('damages one download and not the next', async () => {
  const { client, control } = await startAnthropic();
  const { id } = await submit(client, prompts(3));
  await ended(client, id);
  const results = { provider, route: 'batches.results' };
  await control.faults(
    { ...results, action: { omit_lines: 1 } },
    { ...results, action: { cut: { after_bytes: 700 } } },
  );
  expect(await linesOf(client, id)).toHaveLength(2);
  await expect(linesOf(client, id)).rejects.toThrow();
  expect(await linesOf(client, id)).toHaveLength(3);
});
