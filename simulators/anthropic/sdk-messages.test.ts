import Anthropic from '@anthropic-ai/sdk';
import { expect, test } from 'vitest';
import { ask, run, startAnthropic } from './testing/harness.ts';

const WEATHER: Anthropic.Tool = {
  name: 'weather',
  input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};
const CLOCK: Anthropic.Tool = { name: 'clock', input_schema: { type: 'object', properties: {} } };

function messageIn(result: Awaited<ReturnType<typeof run>>[number]): Anthropic.Message {
  if (result?.type !== 'succeeded') throw new Error(`the result is ${JSON.stringify(result)}`);
  return result.message;
}

async function answer(params: Parameters<typeof run>[1][number]): Promise<Anthropic.Message> {
  const { client } = await startAnthropic();
  return messageIn((await run(client, [params]))[0]);
}

test('answers a message in the shape of the SDK', async () => {
  expect(await answer(ask('What is up?'))).toEqual({
    id: expect.stringMatching(/^msg_/),
    type: 'message',
    role: 'assistant',
    model: 'claude-haiku-5-5',
    content: [{ type: 'text', text: expect.stringContaining('What is up?'), citations: null }],
    container: null,
    diagnostics: null,
    stop_reason: 'end_turn',
    stop_sequence: null,
    stop_details: null,
    usage: {
      input_tokens: 3,
      output_tokens: expect.any(Number),
      cache_creation_input_tokens: null,
      cache_read_input_tokens: null,
      cache_creation: null,
      output_tokens_details: null,
      server_tool_use: null,
      service_tier: 'batch',
      inference_geo: 'global',
      speed: null,
    },
  });
});

test('answers a single call as it does inside a batch, at the standard tier', async () => {
  const { client } = await startAnthropic();
  const single = await client.messages.create(ask('Same?', { system: 'Be brief.' }));
  const [batched] = await run(client, [ask('Same?', { system: [{ type: 'text', text: 'Be brief.' }] })]);
  const message = messageIn(batched);
  expect({ ...single, id: '', usage: { ...single.usage, service_tier: 'batch' } }).toEqual({ ...message, id: '' });
  expect(single.usage.service_tier).toBe('standard');
});

test.for([
  { question: '[[sim:text=Hello]]', content: [{ type: 'text', text: 'Hello', citations: null }], stop: 'end_turn' },
  { question: '[[sim:text=]]', content: [], stop: 'end_turn' },
  { question: '[[sim:safety]]', content: [], stop: 'refusal' },
  {
    question: '[[sim:reasoning=50]][[sim:text=Hm]]',
    content: [
      { type: 'thinking', thinking: expect.any(String), signature: expect.any(String) },
      { type: 'text', text: 'Hm', citations: null },
    ],
    stop: 'end_turn',
  },
])('answers $question with $stop', async ({ question, content, stop }) => {
  expect(await answer(question)).toMatchObject({ content, stop_reason: stop });
});

test('explains a refusal', async () => {
  expect((await answer('[[sim:safety]]')).stop_details).toMatchObject({ type: 'refusal', category: 'general_harms' });
});

test('stops at the most tokens it may write', async () => {
  const message = await answer(ask('[[sim:chars=400]]', { max_tokens: 10 }));
  expect(message).toMatchObject({ stop_reason: 'max_tokens', usage: { output_tokens: 10 } });
});

test('stops before the first of the sequences it comes upon', async () => {
  const message = await answer(ask('[[sim:text=one two three]]', { stop_sequences: ['three', ' two', 'four'] }));
  expect(message).toMatchObject({
    content: [{ type: 'text', text: 'one' }],
    stop_reason: 'stop_sequence',
    stop_sequence: ' two',
    usage: { output_tokens: 1 },
  });
});

test('fits its answer to a JSON schema', async () => {
  const schema = { type: 'object', properties: { done: { type: 'boolean' } }, required: ['done'] };
  const message = await answer(ask('Done?', { output_config: { format: { type: 'json_schema', schema } } }));
  const [block] = message.content;
  expect(JSON.parse(block?.type === 'text' ? block.text : '')).toEqual({ done: expect.any(Boolean) });
});

test.for([
  { choice: undefined, question: 'Rain?', name: undefined },
  { choice: { type: 'auto' as const }, question: 'Rain?[[sim:tool]]', name: 'weather' },
  { choice: { type: 'any' as const }, question: 'Rain?', name: 'weather' },
  { choice: { type: 'tool' as const, name: 'clock' }, question: 'Rain?', name: 'clock' },
])('calls $name for $question with $choice', async ({ choice, question, name }) => {
  const message = await answer(ask(question, { tools: [WEATHER, CLOCK], ...(choice && { tool_choice: choice }) }));
  const [block] = message.content;
  expect(block?.type === 'tool_use' ? block.name : undefined).toBe(name);
  expect(message.stop_reason).toBe(name === undefined ? 'end_turn' : 'tool_use');
});

test('fills the arguments of the tool it calls', async () => {
  const message = await answer(ask('Rain?', { tools: [WEATHER], tool_choice: { type: 'any' } }));
  expect(message.content).toEqual([
    {
      type: 'tool_use',
      id: expect.stringMatching(/^toolu_/),
      name: 'weather',
      input: { city: expect.any(String) },
      caller: { type: 'direct' },
    },
  ]);
});

test.for([
  { marks: '[[sim:usage=100,20]]', usage: { input_tokens: 100, output_tokens: 20, cache_read_input_tokens: null } },
  {
    marks: '[[sim:usage=100,60,20]]',
    usage: { input_tokens: 40, cache_read_input_tokens: 60, cache_creation_input_tokens: 0, output_tokens: 20 },
  },
  {
    marks: '[[sim:usage=100,60,20]][[sim:cache_write=30]]',
    usage: {
      input_tokens: 10,
      cache_read_input_tokens: 60,
      cache_creation_input_tokens: 30,
      cache_creation: { ephemeral_5m_input_tokens: 30, ephemeral_1h_input_tokens: 0 },
    },
  },
  {
    marks: '[[sim:usage=9,99]][[sim:reasoning=50]]',
    usage: { output_tokens: 99, output_tokens_details: { thinking_tokens: 50 } },
  },
  { marks: '[[sim:usage=alien]]', usage: { units_read: 12, units_written: 34 } },
])('reports the usage $marks asks for, input without the cache', async ({ marks, usage }) => {
  expect((await answer(`Count.${marks}`)).usage).toMatchObject(usage);
});

test('reports no usage when told so', async () => {
  expect(await answer('[[sim:usage=none]]')).not.toHaveProperty('usage');
});

test('writes to the cache for an hour when a mark in the request says so', async () => {
  const cache_control = { type: 'ephemeral', ttl: '1h' } as const;
  const params = ask([{ type: 'text', text: '[[sim:usage=9,1]][[sim:cache_write=5]]', cache_control }]);
  expect((await answer(params)).usage.cache_creation).toEqual({
    ephemeral_5m_input_tokens: 0,
    ephemeral_1h_input_tokens: 5,
  });
});

test('answers a conversation with images, documents and results of tools', async () => {
  const message = await answer({
    ...ask('', { tools: [WEATHER] }),
    messages: [
      {
        role: 'user',
        content: [
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } },
          { type: 'image', source: { type: 'url', url: 'https://example.test/cat.png' } },
          { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'aGk=' }, title: 'Note' },
          { type: 'text', text: '[[sim:text=Seen]]' },
        ],
      },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Bern' } }] },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: '[[sim:error=server_error]]' }],
      },
      { role: 'user', content: 'Well?' },
    ],
  });
  expect(message.content).toEqual([{ type: 'text', text: 'Seen', citations: null }]);
});

test('runs a prompt marked once by its marks, and plainly the next time', async () => {
  const { client } = await startAnthropic();
  const question = 'Again[[sim:once]][[sim:error=server_error]]';
  expect((await run(client, [question]))[0]).toMatchObject({
    type: 'errored',
    error: { error: { type: 'api_error' } },
  });
  expect((await run(client, [question]))[0]?.type).toBe('succeeded');
  const single = '[[sim:once]][[sim:error=rate_limit]]';
  const refused = await client.messages.create(ask(single)).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(Anthropic.RateLimitError);
  expect((await client.messages.create(ask(single))).stop_reason).toBe('end_turn');
});

test('lists models in pages', async () => {
  const { client } = await startAnthropic();
  const ids: string[] = [];
  for await (const model of client.models.list({ limit: 3 })) ids.push(model.id);
  expect(ids).toContain('claude-opus-5-5');
  expect(new Set(ids).size).toBe(ids.length);
  expect((await client.models.list({ limit: 1 })).data[0]).toMatchObject({
    type: 'model',
    display_name: 'Claude Fable 5.2',
    lifecycle: 'active',
  });
});
