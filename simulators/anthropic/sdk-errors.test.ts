import Anthropic from '@anthropic-ai/sdk';
import { expect, test } from 'vitest';
import { ask, type Params, run, startAnthropic } from './testing/harness.ts';

const TOOL = { name: 'weather', input_schema: { type: 'object' as const } };
const USE = { type: 'tool_use', id: 'toolu_1', name: 'weather', input: {} };
const RESULT = { type: 'tool_result', tool_use_id: 'toolu_1', content: 'rain' };
const DOCUMENT = { type: 'document', source: { type: 'url', url: 'https://example.test/a.pdf' } };
const CITED = { type: 'text', text: 'said', citations: [] };

function turns(...contents: unknown[]): object {
  return { messages: contents.map((content, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content })) };
}

/** Bodies the types forbid too, as another client might send them. */
function body(change: object): Params {
  return { ...ask('Hi'), ...change } as Params;
}

test.for([
  { directive: 'server_error', type: 'api_error' },
  { directive: 'rate_limit', type: 'rate_limit_error' },
  { directive: 'insufficient_quota', type: 'billing_error' },
  { directive: 'billing', type: 'billing_error' },
  { directive: 'overloaded', type: 'overloaded_error' },
  { directive: 'timeout', type: 'timeout_error' },
  { directive: 'context_length', type: 'invalid_request_error' },
  { directive: 'unauthorized', type: 'authentication_error' },
  { directive: 'forbidden', type: 'permission_error' },
  { directive: 'nonsense', type: 'invalid_request_error' },
])('errors an item by error=$directive as $type', async ({ directive, type }) => {
  const { client } = await startAnthropic();
  const [result] = await run(client, [`[[sim:error=${directive}]]`]);
  expect(result).toMatchObject({ type: 'errored', error: { type: 'error', error: { type } } });
});

test.for([
  { directive: 'overloaded', status: 529, type: Anthropic.InternalServerError },
  { directive: 'rate_limit', status: 429, type: Anthropic.RateLimitError },
  { directive: 'billing', status: 402, type: Anthropic.APIError },
  { directive: 'timeout', status: 504, type: Anthropic.InternalServerError },
  { directive: 'forbidden', status: 403, type: Anthropic.PermissionDeniedError },
])('answers a single call by error=$directive with $status', async ({ directive, status, type }) => {
  const { client } = await startAnthropic();
  const error = await client.messages.create(ask(`[[sim:error=${directive}]]`)).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(type);
  expect(error).toMatchObject({ status, requestID: expect.stringMatching(/^req_/) });
});

test.for(['[[sim:invalid]]', '[[sim:invalid_line]]', '[[sim:typo]]'])(
  'errors only the item marked %s',
  async (mark) => {
    const { client } = await startAnthropic();
    const [bad, good] = await run(client, [mark, 'Hi']);
    expect(bad).toMatchObject({ type: 'errored', error: { error: { type: 'invalid_request_error' } } });
    expect(good?.type).toBe('succeeded');
  },
);

test.for([
  { change: { max_tokens: undefined }, message: 'max_tokens: Field required' },
  { change: { max_tokens: 0 }, message: 'max_tokens: ' },
  { change: { messages: [] }, message: 'messages: ' },
  { change: { messages: [{ role: 'tool', content: 'a' }] }, message: 'messages.0.role: ' },
  { change: turns(''), message: 'messages.0.content: ' },
  { change: turns([]), message: 'messages.0: all messages must have non-empty content' },
  { change: turns([{ type: 'text', text: '' }]), message: 'messages.0.content.0.text: ' },
  { change: turns([{ type: 'audio' }]), message: 'messages.0.content.0' },
  {
    change: turns([{ type: 'image', source: { type: 'base64', media_type: 'image/bmp', data: 'aGk=' } }]),
    message: 'messages.0.content.0.source.media_type: ',
  },
  {
    change: turns([{ type: 'text', text: 'a', colour: 'red' }]),
    message: 'messages.0.content.0.colour: Extra inputs are not permitted',
  },
  { change: turns([RESULT]), message: 'messages.0.content.0: unexpected `tool_use_id` found' },
  { change: turns('a', [USE], [{ ...RESULT, tool_use_id: 'toolu_2' }]), message: 'messages.2.content.0: unexpected' },
  { change: turns([USE]), message: 'messages.0.content.0: `tool_use` blocks may not stand in user messages' },
  { change: turns('a', [USE, USE]), message: 'messages.1.content.1: `tool_use` ids must be unique' },
  { change: { system: [{ type: 'text', text: '' }] }, message: 'system.0.text: ' },
  { change: { frequency_penalty: 1 }, message: 'frequency_penalty: Extra inputs are not permitted' },
  { change: { stream: true }, message: 'stream: ' },
  { change: { speed: 'fast' }, message: 'speed: ' },
  { change: { tools: [{ name: 'no spaces please', input_schema: { type: 'object' } }] }, message: 'tools.0.name: ' },
  { change: { tools: [{ name: 'a' }] }, message: 'tools.0.input_schema: Field required' },
  { change: { tools: [TOOL, TOOL] }, message: 'tools: Tool names must be unique.' },
  { change: { tool_choice: { type: 'any' } }, message: 'tool_choice: ' },
  { change: { tools: [TOOL], tool_choice: { type: 'tool', name: 'b' } }, message: "tool_choice.tool.name: Tool 'b'" },
  { change: { thinking: { type: 'enabled', budget_tokens: 1_024 } }, message: 'max_tokens: must be greater' },
  { change: { output_config: { format: { type: 'json_object' } } }, message: 'output_config.format.' },
  { change: { output_config: { effort: 'minimal' } }, message: 'output_config.effort: ' },
  { change: { metadata: { tenant: 'a' } }, message: 'metadata.tenant: Extra inputs are not permitted' },
])('errors an item with $message', async ({ change, message }) => {
  const { client } = await startAnthropic();
  const [result] = await run(client, [body(change)]);
  expect(result).toMatchObject({
    type: 'errored',
    error: { error: { type: 'invalid_request_error', message: expect.stringContaining(message) } },
  });
});

test('does not find a model whose id begins with unknown-', async () => {
  const { client } = await startAnthropic();
  const [result] = await run(client, [ask('Hi', { model: 'unknown-1' })]);
  expect(result).toMatchObject({ type: 'errored', error: { error: { type: 'not_found_error' } } });
  await expect(client.messages.create(ask('Hi', { model: 'unknown-1' }))).rejects.toMatchObject({ status: 404 });
});

const NEWER_RULES = [
  { rule: 'temperature', change: { temperature: 1 } },
  { rule: 'top_p', change: { top_p: 1 } },
  { rule: 'top_k', change: { top_k: 40 } },
  { rule: 'a document in an assistant turn', change: turns('a', [DOCUMENT], 'b') },
  { rule: 'citations on user text', change: turns([CITED]) },
];

test.for(NEWER_RULES)('refuses $rule under the newer API version alone', async ({ change }) => {
  const { client } = await startAnthropic();
  const older = client.withOptions({ defaultHeaders: { 'anthropic-version': '2023-06-01' } });
  const invalid = { type: 'errored', error: { error: { type: 'invalid_request_error' } } };
  expect((await run(client, [body(change)]))[0]).toMatchObject(invalid);
  expect((await run(older, [body(change)]))[0]?.type).toBe('succeeded');
  await expect(client.messages.create(body(change))).rejects.toBeInstanceOf(Anthropic.BadRequestError);
  expect((await older.messages.create(body(change))).type).toBe('message');
});

test('refuses a temperature above one', async () => {
  const { client } = await startAnthropic();
  const older = client.withOptions({ defaultHeaders: { 'anthropic-version': '2023-06-01' } });
  const [result] = await run(older, [body({ temperature: 1.5 })]);
  expect(result).toMatchObject({ error: { error: { message: expect.stringContaining('temperature: ') } } });
});

test.for([
  { model: 'claude-opus-5-5', type: 'errored' },
  { model: 'claude-sonnet-5-5', type: 'errored' },
  { model: 'claude-fable-5', type: 'errored' },
  { model: 'claude-fable-5-2', type: 'errored' },
  { model: 'claude-opus-5', type: 'succeeded' },
  { model: 'claude-haiku-5-5', type: 'succeeded' },
])('a forced tool has $type on $model', async ({ model, type }) => {
  const { client } = await startAnthropic();
  const forced = (['any', 'tool'] as const).map((choice) =>
    body({ model, tools: [TOOL], tool_choice: { type: choice, ...(choice === 'tool' && { name: 'weather' }) } }),
  );
  const results = await run(client, [...forced, body({ model, tools: [TOOL], tool_choice: { type: 'auto' } })]);
  expect(results.map((result) => result?.type)).toEqual([type, type, 'succeeded']);
});
