import OpenAI from 'openai';
import { expect, test } from 'vitest';
import { startOpenAi } from './testing/harness.ts';

const MESSAGES = [{ role: 'user' as const, content: 'What is 2 + 2?' }];

test('lists models', async () => {
  const { client } = await startOpenAi();
  const models = await Array.fromAsync(client.models.list());
  expect(models).toContainEqual(expect.objectContaining({ id: 'gpt-4o-mini', object: 'model' }));
});

test('answers a chat completion', async () => {
  const { client } = await startOpenAi();
  const reply = await client.chat.completions.create({ model: 'gpt-4o-mini', messages: MESSAGES });
  expect(reply).toMatchObject({
    id: expect.stringMatching(/^chatcmpl-/),
    object: 'chat.completion',
    model: 'gpt-4o-mini',
    choices: [{ index: 0, finish_reason: 'stop', logprobs: null, message: { role: 'assistant', refusal: null } }],
  });
  expect(reply.choices[0]?.message.content).toContain('What is 2 + 2?');
  expect(reply.usage?.total_tokens).toBe((reply.usage?.prompt_tokens ?? 0) + (reply.usage?.completion_tokens ?? 0));
});

test('answers a response, whose text the SDK puts together', async () => {
  const { client } = await startOpenAi();
  const reply = await client.responses.create({ model: 'gpt-5.4-mini', input: [{ role: 'user', content: 'hello' }] });
  expect(reply).toMatchObject({ object: 'response', status: 'completed', error: null, incomplete_details: null });
  expect(reply.output_text).toContain('hello');
  expect(reply.usage?.input_tokens).toBeGreaterThan(0);
});

test('embeds in the format the SDK prefers and in plain numbers, to the same vector', async () => {
  const { client } = await startOpenAi();
  const create = (format?: 'float') =>
    client.embeddings.create({
      model: 'text-embedding-3-small',
      input: ['a', 'b'],
      dimensions: 4,
      ...(format && { encoding_format: format }),
    });
  const [decoded, plain] = [await create(), await create('float')];
  expect(decoded.data.map(({ embedding }) => [...embedding])).toEqual(plain.data.map(({ embedding }) => embedding));
  expect(plain.data[0]?.embedding).toHaveLength(4);
  expect(plain.usage).toEqual({ prompt_tokens: 1, total_tokens: 1 });
});

test('moderates each input', async () => {
  const { client } = await startOpenAi();
  const reply = await client.moderations.create({ input: ['a kind word', 'a bad one [[sim:safety]]'] });
  expect(reply.results).toHaveLength(2);
  expect(reply.results[0]?.category_applied_input_types.violence).toEqual(['text']);
  expect(reply.model).toBe('omni-moderation-latest');
});

test('completes a prompt', async () => {
  const { client } = await startOpenAi();
  const reply = await client.completions.create({ model: 'gpt-4o-mini', prompt: 'Once' });
  expect(reply).toMatchObject({ object: 'text_completion', choices: [{ text: expect.stringContaining('Once') }] });
});

test.for([
  { mark: 'error=server_error', type: OpenAI.InternalServerError },
  { mark: 'error=rate_limit', type: OpenAI.RateLimitError },
  { mark: 'invalid', type: OpenAI.BadRequestError },
])('raises the SDK error of $mark', async ({ mark, type }) => {
  const { client } = await startOpenAi();
  const messages = [{ role: 'user' as const, content: `[[sim:${mark}]]` }];
  await expect(client.chat.completions.create({ model: 'gpt-4o-mini', messages })).rejects.toBeInstanceOf(type);
});

test('lets the SDK retry past an error marked once', async () => {
  const { client, control } = await startOpenAi();
  const messages = [{ role: 'user' as const, content: '[[sim:once]][[sim:error=rate_limit]] hello' }];
  const retrying = client.withOptions({ maxRetries: 1 });
  const reply = await retrying.chat.completions.create({ model: 'gpt-4o-mini', messages });
  expect(reply.choices[0]?.message.content).toContain('hello');
  const calls = await control.journal({ route: 'chat.completions.create' });
  expect(calls.map(({ status, facts }) => [status, facts['retry_count']])).toEqual([
    [429, 0],
    [200, 1],
  ]);
});

test('does not know a model called unknown', async () => {
  const { client } = await startOpenAi();
  await expect(client.chat.completions.create({ model: 'unknown-1', messages: MESSAGES })).rejects.toMatchObject({
    status: 404,
    code: 'model_not_found',
  });
});
