import { expect, test } from 'vitest';
import { MODEL, prompts, run, startGemini } from './testing/harness.ts';

test('answers a single call with what a batch answers', async () => {
  const gemini = await startGemini();
  const single = await gemini.client.models.generateContent({ model: MODEL, contents: 'question 0' });
  const batch = (await run(gemini, prompts(1))).get('item-0');
  expect(single.text).toBe(batch?.response?.candidates?.[0]?.content?.parts?.[0]?.text);
  expect(single.usageMetadata).toEqual(batch?.response?.usageMetadata);
  expect(single.candidates?.[0]?.finishReason).toBe('STOP');
});

test('lets the SDK call functions and read thinking apart', async () => {
  const { client } = await startGemini();
  const answer = await client.models.generateContent({
    model: MODEL,
    contents: 'now [[sim:reasoning=40]]',
    config: {
      tools: [{ functionDeclarations: [{ name: 'time', parametersJsonSchema: { type: 'object' } }] }],
      toolConfig: { functionCallingConfig: { mode: 'ANY' as never } },
    },
  });
  expect(answer.functionCalls).toMatchObject([{ name: 'time', args: {} }]);
  expect(answer.usageMetadata?.thoughtsTokenCount).toBe(40);
});

test('shows a blocked prompt as the SDK knows it', async () => {
  const { client } = await startGemini();
  const answer = await client.models.generateContent({ model: MODEL, contents: '[[sim:safety]]' });
  expect([answer.promptFeedback?.blockReason, answer.candidates]).toEqual(['SAFETY', undefined]);
});

test.for([
  { name: 'rate_limit', status: 429 },
  { name: 'server_error', status: 500 },
  { name: 'overloaded', status: 503 },
  { name: 'timeout', status: 504 },
  { name: 'unauthorized', status: 401 },
  { name: 'forbidden', status: 403 },
  { name: 'context_length', status: 400 },
])('answers $name with $status', async ({ name, status }) => {
  const { client } = await startGemini();
  const contents = `[[sim:error=${name}]]`;
  await expect(client.models.generateContent({ model: MODEL, contents })).rejects.toMatchObject({ status });
});

test('embeds by the SDK and by the single method', async () => {
  const { client, rest } = await startGemini();
  const model = 'gemini-embedding-001';
  const { embeddings } = await client.models.embedContent({ model, contents: ['one', 'two'] });
  expect(embeddings?.map(({ values }) => values?.length)).toEqual([8, 8]);
  const { text } = await rest('POST', `/v1beta/models/${model}:embedContent`, {
    content: { parts: [{ text: 'two' }] },
  });
  expect(JSON.parse(text).embedding.values).toEqual(embeddings?.[1]?.values);
  const failing = client.models.embedContent({ model, contents: ['one', '[[sim:error=overloaded]]'] });
  await expect(failing).rejects.toMatchObject({ status: 503 });
});

test('lists models, and takes any id that does not begin with unknown-', async () => {
  const { client } = await startGemini();
  const listed = await Array.fromAsync(await client.models.list());
  expect(listed.find(({ name }) => name === `models/${MODEL}`)?.supportedActions).toContain('batchGenerateContent');
  await client.models.generateContent({ model: 'gemini-99-ultra', contents: 'a' });
  const unknown = client.models.generateContent({ model: 'unknown-1', contents: 'a' });
  await expect(unknown).rejects.toMatchObject({ status: 404 });
});
