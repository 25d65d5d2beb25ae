import { type BatchJob, JobState } from '@google/genai';
import { expect, test } from 'vitest';
import {
  AT_ONCE,
  lines,
  MODEL,
  operation,
  prompts,
  reached,
  resultsOf,
  startGemini,
  submit,
  upload,
} from './testing/harness.ts';

const HOUR_MS = 3_600_000;

test('runs a batch of a file from create to download', async () => {
  const gemini = await startGemini({ ...AT_ONCE, runningMs: HOUR_MS });
  const { client, control } = gemini;
  const file = await upload(gemini, lines(prompts(5)));
  const created = await client.batches.create({
    model: MODEL,
    src: file.name ?? '',
    config: { displayName: 'five questions' },
  });
  expect(created).toMatchObject({
    name: expect.stringMatching(/^batches\/[0-9a-f]{32}$/),
    displayName: 'five questions',
    state: JobState.JOB_STATE_PENDING,
    model: `models/${MODEL}`,
    createTime: expect.any(String),
  });
  const name = created.name ?? '';
  await reached(gemini, name, ['RUNNING']);
  expect((await client.batches.get({ name })).state).toBe(JobState.JOB_STATE_RUNNING);
  await control.advance(HOUR_MS);
  const ended = await reached(gemini, name);
  const job = await client.batches.get({ name });
  expect(job).toMatchObject({ state: JobState.JOB_STATE_SUCCEEDED, endTime: expect.any(String) });
  expect(job.dest?.fileName).toMatch(/^files\/batch-/);
  const results = await resultsOf(gemini, ended);
  expect(results.map(({ key }) => key).toSorted()).toEqual(prompts(5).map((_, index) => `item-${index}`));
  expect(results.map(({ key }) => key)).not.toEqual(prompts(5).map((_, index) => `item-${index}`));
});

test('answers inline requests in their order, with their metadata', async () => {
  const gemini = await startGemini();
  const created = await gemini.client.batches.create({
    model: MODEL,
    src: prompts(20).map((contents, index) => ({
      contents,
      metadata: { key: `item-${index}` },
      config: { systemInstruction: 'Be brief.', temperature: 0.5, maxOutputTokens: 100 },
    })),
  });
  await reached(gemini, created.name ?? '');
  const { dest } = await gemini.client.batches.get({ name: created.name ?? '' });
  expect(dest?.inlinedResponses?.map(({ metadata }) => metadata)).toEqual(
    prompts(20).map((_, index) => ({ key: `item-${index}` })),
  );
  expect(dest?.inlinedResponses?.[3]?.response).toMatchObject({
    candidates: [
      { content: { role: 'model', parts: [{ text: expect.stringContaining('question 3') }] }, finishReason: 'STOP' },
    ],
    usageMetadata: { promptTokenCount: 5, candidatesTokenCount: expect.any(Number) },
    modelVersion: MODEL,
  });
});

test('embeds contents, inline and from a file', async () => {
  const gemini = await startGemini();
  const { client } = gemini;
  const model = 'gemini-embedding-001';
  const inline = await client.batches.createEmbeddings({
    model,
    src: { inlinedRequests: { contents: ['one', 'two'], config: { outputDimensionality: 4 } } },
    config: { displayName: 'vectors' },
  });
  await reached(gemini, inline.name ?? '');
  const { dest } = await client.batches.get({ name: inline.name ?? '' });
  const vectors = dest?.inlinedEmbedContentResponses?.map(({ response }) => response?.embedding?.values);
  expect(vectors?.map((vector) => vector?.length)).toEqual([4, 4]);
  expect(dest?.inlinedEmbedContentResponses?.[0]?.response?.tokenCount).toBe('1');

  const text = ['one', 'two'].map((each, index) =>
    JSON.stringify({
      key: `item-${index}`,
      request: { content: { parts: [{ text: each }] }, output_dimensionality: 4 },
    }),
  );
  const file = await upload(gemini, text);
  const batch = await client.batches.createEmbeddings({ model, src: { fileName: file.name ?? '' } });
  const ended = await reached(gemini, batch.name ?? '');
  const results = await resultsOf(gemini, ended);
  expect(results.find(({ key }) => key === 'item-1')?.response).toEqual({
    embedding: { values: vectors?.[1] },
    tokenCount: '1',
  });
});

test('lists by pages, newest first, without outputs', async () => {
  const gemini = await startGemini();
  const names: string[] = [];
  for (const text of prompts(5)) names.push(await submit(gemini, lines([text])));
  for (const name of names) await reached(gemini, name);
  const pager = await gemini.client.batches.list({ config: { pageSize: 2 } });
  expect(pager.page.map(({ name }) => name)).toEqual([names[4], names[3]]);
  const listed: BatchJob[] = [];
  for await (const job of pager) listed.push(job);
  expect(listed.map(({ name }) => name)).toEqual(names.toReversed());
  expect(listed.every(({ dest, state }) => dest === undefined && state === 'JOB_STATE_SUCCEEDED')).toBe(true);
});

test('cancels a running batch, which then has an error and no output', async () => {
  const gemini = await startGemini({ ...AT_ONCE, runningMs: HOUR_MS, cancellingMs: 60_000 });
  const name = await submit(gemini, lines(prompts(4)));
  await reached(gemini, name, ['RUNNING']);
  await gemini.client.batches.cancel({ name });
  expect((await gemini.client.batches.get({ name })).state).toBe(JobState.JOB_STATE_RUNNING);
  await gemini.control.advance(60_000);
  const ended = await reached(gemini, name);
  expect(ended).toMatchObject({ done: true, error: { code: 1 }, metadata: { state: 'BATCH_STATE_CANCELLED' } });
  expect([ended.response, ended.metadata.output]).toEqual([undefined, undefined]);
  const job = await gemini.client.batches.get({ name });
  expect(job).toMatchObject({ state: JobState.JOB_STATE_CANCELLED });
  await gemini.client.batches.cancel({ name });
  expect((await operation(gemini, name)).metadata.state).toBe('BATCH_STATE_CANCELLED');
});

test('shows what a cancelled batch has when told to', async () => {
  const gemini = await startGemini({ ...AT_ONCE, runningMs: 4 * HOUR_MS, cancelledOutput: true });
  const name = await submit(gemini, lines(prompts(4)));
  await reached(gemini, name, ['RUNNING']);
  await gemini.control.advance(2 * HOUR_MS);
  await gemini.client.batches.cancel({ name });
  const ended = await reached(gemini, name);
  const results = await resultsOf(gemini, ended);
  expect(results.filter(({ error }) => error?.code === 1)).toHaveLength(2);
  expect(results.filter(({ response }) => response)).toHaveLength(2);
});

test('deletes a batch, also one that runs', async () => {
  const gemini = await startGemini({ ...AT_ONCE, runningMs: HOUR_MS });
  const name = await submit(gemini, lines(['a']));
  await gemini.client.batches.delete({ name });
  await expect(gemini.client.batches.get({ name })).rejects.toMatchObject({ status: 404 });
  expect((await gemini.client.batches.list()).page).toEqual([]);
});

test.for([
  { what: 'an unknown model', model: 'unknown-model', status: 404 },
  { what: 'a model that only embeds', model: 'gemini-embedding-001', status: 404 },
  { what: 'an unknown file', src: 'files/none', status: 400 },
])('refuses a create with $what', async ({ model = MODEL, src, status }) => {
  const gemini = await startGemini();
  const file = src ?? (await upload(gemini, lines(['a']))).name ?? '';
  await expect(gemini.client.batches.create({ model, src: file })).rejects.toMatchObject({ status });
});

test('refuses a create that names an expired file', async () => {
  const gemini = await startGemini({ ...AT_ONCE, fileLifeMs: HOUR_MS, missingInputStatus: 404 });
  const file = await upload(gemini, lines(['a']));
  await gemini.control.advance(HOUR_MS);
  const creating = gemini.client.batches.create({ model: MODEL, src: file.name ?? '' });
  await expect(creating).rejects.toMatchObject({ status: 404 });
});

test('goes on with a batch whose file expires while it runs', async () => {
  const gemini = await startGemini({ ...AT_ONCE, runningMs: 3 * HOUR_MS, fileLifeMs: HOUR_MS });
  const name = await submit(gemini, lines(prompts(3)));
  await gemini.control.advance(3 * HOUR_MS);
  const ended = await reached(gemini, name);
  expect(await resultsOf(gemini, ended)).toHaveLength(3);
});

test('creates once for each call, whatever the answer', async () => {
  const gemini = await startGemini();
  const file = await upload(gemini, lines(['a']));
  await gemini.control.faults({ provider: 'gemini', route: 'batches.create', action: { drop_after: true } });
  await expect(gemini.client.batches.create({ model: MODEL, src: file.name ?? '' })).rejects.toThrow();
  expect(await gemini.control.journal({ route: 'batches.create' })).toHaveLength(1);
  expect((await gemini.client.batches.list()).page).toHaveLength(1);
});
