import { createReadStream } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI, { toFile } from 'openai';
import { expect, onTestFinished, test } from 'vitest';
import { AT_ONCE, chatLines, idsIn, prompts, reached, startOpenAi, submit, upload } from './testing/harness.ts';

const CONTENT = `${chatLines(['héllo 😀']).join('\n')}\n`;
const DAY_MS = 86_400_000;

async function streamOf(content: string) {
  const folder = await mkdtemp(join(tmpdir(), 'upload-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, 'streamed.jsonl');
  await writeFile(path, content);
  return createReadStream(path);
}

test.for([
  { name: 'toFile', make: () => toFile(Buffer.from(CONTENT), 'input.jsonl') },
  { name: 'a File over a Blob', make: async () => new File([new Blob([CONTENT])], 'input.jsonl') },
  { name: 'a read stream', make: () => streamOf(CONTENT) },
])('stores a file given as $name and gives its bytes back', async ({ make }) => {
  const { client } = await startOpenAi();
  const file = await client.files.create({ file: await make(), purpose: 'batch' });
  expect(file).toMatchObject({
    id: expect.stringMatching(/^file-/),
    object: 'file',
    purpose: 'batch',
    bytes: Buffer.byteLength(CONTENT),
    filename: expect.stringMatching(/\.jsonl$/),
  });
  const content = await client.files.content(file.id);
  expect(await content.text()).toBe(CONTENT);
  expect(await client.files.retrieve(file.id)).toEqual(file);
  expect(await client.files.waitForProcessing(file.id)).toEqual(file);
});

test('reads the parts of an upload in any order, with and without an expiry', async () => {
  const { client } = await startOpenAi();
  const create = async (order: 'first' | 'last') => {
    const file = await toFile(Buffer.from(CONTENT), 'input.jsonl');
    const rest = { purpose: 'batch', expires_after: { anchor: 'created_at', seconds: 3_600 } } as const;
    return client.files.create(order === 'first' ? { file, ...rest } : { ...rest, file });
  };
  for (const stored of [await create('first'), await create('last')]) {
    expect(stored.purpose).toBe('batch');
    expect((stored.expires_at ?? 0) - stored.created_at).toBe(3_600);
  }
  const plain = await upload(client, chatLines(['a']));
  expect(((plain.expires_at ?? 0) - plain.created_at) * 1000).toBe(30 * DAY_MS);
});

test.for([
  { name: 'no purpose', parts: { file: 'x.jsonl' }, param: 'purpose' },
  { name: 'an unknown purpose', parts: { file: 'x.jsonl', purpose: 'nonsense' }, param: 'purpose' },
  { name: 'no file', parts: { purpose: 'batch' }, param: 'file' },
  { name: 'a file that is no JSONL', parts: { file: 'x.txt', purpose: 'batch' }, param: 'file' },
  {
    name: 'too short a life',
    parts: { file: 'x.jsonl', purpose: 'batch', 'expires_after[anchor]': 'created_at', 'expires_after[seconds]': '5' },
    param: 'expires_after[seconds]',
  },
])('refuses an upload with $name', async ({ parts, param }) => {
  const { client } = await startOpenAi();
  const form = new FormData();
  for (const [name, value] of Object.entries(parts)) {
    if (name === 'file') form.set(name, new Blob([CONTENT]), value);
    else form.set(name, value);
  }
  await expect(client.post('/files', { body: form })).rejects.toMatchObject({ status: 400, param });
  expect((await client.files.list()).data).toEqual([]);
});

test('refuses a file over the limit with 413', async () => {
  const { client } = await startOpenAi({ ...AT_ONCE, maxFileBytes: 1_000_000 });
  const lines = [...chatLines(['a']), ' '.repeat(5_000_000)];
  await expect(upload(client, lines)).rejects.toMatchObject({ status: 413, code: 'file_too_large' });
});

test('lists files newest first, by purpose and page by page', async () => {
  const { client } = await startOpenAi();
  const batch = await reached(client, (await submit(client, chatLines(['a']))).id);
  const second = await upload(client, chatLines(['b']));
  const third = await upload(client, chatLines(['c']));
  const all = await Array.fromAsync(client.files.list({ limit: 1 }));
  expect(all.map(({ id }) => id)).toEqual([third.id, second.id, batch.output_file_id, batch.input_file_id]);
  const inputs = await Array.fromAsync(client.files.list({ purpose: 'batch', order: 'asc' }));
  expect(inputs.map(({ id }) => id)).toEqual([batch.input_file_id, second.id, third.id]);
  await expect(client.files.list({ after: 'file-none' })).rejects.toMatchObject({ status: 400, param: 'after' });
});

test('deletes a file for good', async () => {
  const { client } = await startOpenAi();
  const { id } = await upload(client, chatLines(['a']));
  expect(await client.files.delete(id)).toEqual({ id, object: 'file', deleted: true });
  for (const call of [client.files.retrieve(id), client.files.content(id), client.files.delete(id)]) {
    await expect(call).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  }
});

test('runs a batch to its end although its input file is deleted meanwhile', async () => {
  const { client } = await startOpenAi({ ...AT_ONCE, inProgressMs: 100 });
  const batch = await submit(client, chatLines(prompts(5)));
  await client.files.delete(batch.input_file_id);
  const ended = await reached(client, batch.id);
  expect(await idsIn(client, ended.output_file_id)).toHaveLength(5);
});

test('expires files by its clock: inputs and outputs after 30 days, or when they asked', async () => {
  const { client, control } = await startOpenAi();
  const file = await upload(client, chatLines(['a']));
  const brief = await client.batches.create({
    input_file_id: file.id,
    endpoint: '/v1/chat/completions',
    completion_window: '24h',
    output_expires_after: { anchor: 'created_at', seconds: 3_600 },
  });
  const usual = await client.batches.create({
    input_file_id: file.id,
    endpoint: '/v1/chat/completions',
    completion_window: '24h',
  });
  const [briefOutput, usualOutput] = [
    (await reached(client, brief.id)).output_file_id ?? '',
    (await reached(client, usual.id)).output_file_id ?? '',
  ];
  await control.advance(3_600_000 + 1_000);
  await expect(client.files.content(briefOutput)).rejects.toMatchObject({ status: 404 });
  expect(await idsIn(client, usualOutput)).toEqual(['item-0']);
  await control.advance(30 * DAY_MS);
  for (const id of [usualOutput, file.id]) {
    await expect(client.files.content(id)).rejects.toMatchObject({ status: 404 });
  }
  expect((await client.files.list()).data).toEqual([]);
  await expect(
    client.batches.create({ input_file_id: file.id, endpoint: '/v1/chat/completions', completion_window: '24h' }),
  ).rejects.toMatchObject({ status: 400, param: 'input_file_id' });
});

test('wants a key and names it in its own error shape', async () => {
  const { client, simulators } = await startOpenAi();
  const wrong = client.withOptions({ apiKey: 'sk-invalid-key' });
  const error = await wrong.files.list().then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(OpenAI.AuthenticationError);
  expect(error).toMatchObject({ code: 'invalid_api_key', requestID: expect.stringMatching(/^req_/) });
  const bare = await fetch(`${simulators.openaiUrl}/batches`);
  expect([bare.status, bare.headers.get('content-type')]).toEqual([401, 'application/json']);
  expect(await bare.json()).toHaveProperty('error.message');
});

test('answers an unknown path in the error shape', async () => {
  const { client } = await startOpenAi();
  await expect(client.get('/nonsense')).rejects.toMatchObject({ status: 404, type: 'invalid_request_error' });
});
