import { expect, test } from 'vitest';
import { UntranslatableRequest } from '../untranslatable-request.ts';
import { translateChatRequest } from './chat-request.ts';

const TARGET = { model: 'claude-x', defaultMaxOutputTokens: 700, apiVersion: '2026-10-21' } as const;
const HI = { role: 'user', content: 'Hi' };

function translate(members: Record<string, unknown>, apiVersion: '2026-10-21' | '2023-06-01' = '2026-10-21') {
  return translateChatRequest({ messages: [HI], ...members }, { ...TARGET, apiVersion });
}

const withContent = (content: unknown, role = 'user') => ({ messages: [{ role, content }] });
const withTools = (members: Record<string, unknown> = {}) => ({
  tools: [{ type: 'function', function: { name: 'f' } }],
  ...members,
});

test('takes the model of the target and its limit where the request has none', () => {
  expect(translate({ model: 'an-alias' })).toEqual({
    model: 'claude-x',
    max_tokens: 700,
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
  });
});

test.each<[string, Record<string, unknown>, object]>([
  ['max_tokens', { max_tokens: 5 }, { max_tokens: 5 }],
  ['max_completion_tokens', { max_completion_tokens: 6 }, { max_tokens: 6 }],
  ['both limits alike', { max_completion_tokens: 6, max_tokens: 6 }, { max_tokens: 6 }],
  ['a stop text', { stop: 'END' }, { stop_sequences: ['END'] }],
  ['stop texts', { stop: ['A', 'B'] }, { stop_sequences: ['A', 'B'] }],
  ['user', { user: 'u' }, { metadata: { user_id: 'u' } }],
  ['safety_identifier before user', { user: 'u', safety_identifier: 's' }, { metadata: { user_id: 's' } }],
  ['no reasoning', { reasoning_effort: 'none' }, { thinking: { type: 'disabled' } }],
  ...[
    ['minimal', 'low'],
    ['low', 'low'],
    ['medium', 'medium'],
    ['high', 'high'],
    ['xhigh', 'xhigh'],
    ['max', 'max'],
  ].map(([given, effort]): [string, Record<string, unknown>, object] => [
    `reasoning ${given}`,
    { reasoning_effort: given },
    { thinking: { type: 'adaptive' }, output_config: { effort } },
  ]),
  [
    'a JSON schema',
    {
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'n', description: 'd', strict: true, schema: { type: 'object' } },
      },
    },
    { output_config: { format: { type: 'json_schema', schema: { type: 'object' } } } },
  ],
  [
    'a JSON schema with reasoning',
    { reasoning_effort: 'low', response_format: { type: 'json_schema', json_schema: { name: 'n', schema: {} } } },
    { output_config: { effort: 'low', format: { type: 'json_schema', schema: {} } } },
  ],
  [
    'a JSON schema without reasoning',
    { reasoning_effort: 'none', response_format: { type: 'json_schema', json_schema: { name: 'n', schema: {} } } },
    { thinking: { type: 'disabled' }, output_config: { format: { type: 'json_schema', schema: {} } } },
  ],
  [
    'a function',
    {
      tools: [
        { type: 'function', function: { name: 'f', description: 'd', strict: true, parameters: { type: 'object' } } },
      ],
    },
    { tools: [{ name: 'f', description: 'd', strict: true, input_schema: { type: 'object' } }] },
  ],
  ['a function without parameters', withTools(), { tools: [{ name: 'f', input_schema: { type: 'object' } }] }],
  [
    'a function with a schema that names no type',
    { tools: [{ type: 'function', function: { name: 'f', parameters: { properties: { a: {} } } } }] },
    { tools: [{ name: 'f', input_schema: { type: 'object', properties: { a: {} } } }] },
  ],
  ['tool_choice auto', withTools({ tool_choice: 'auto' }), { tool_choice: { type: 'auto' } }],
  ['tool_choice none', withTools({ tool_choice: 'none' }), { tool_choice: { type: 'none' } }],
  ['tool_choice required', withTools({ tool_choice: 'required' }), { tool_choice: { type: 'any' } }],
  [
    'tool_choice function',
    withTools({ tool_choice: { type: 'function', function: { name: 'f' } } }),
    { tool_choice: { type: 'tool', name: 'f' } },
  ],
  [
    'no parallel calls',
    withTools({ parallel_tool_calls: false }),
    { tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
  ],
  [
    'no parallel calls, one required',
    withTools({ parallel_tool_calls: false, tool_choice: 'required' }),
    { tool_choice: { type: 'any', disable_parallel_tool_use: true } },
  ],
  [
    'no parallel calls where none are made',
    withTools({ parallel_tool_calls: false, tool_choice: 'none' }),
    { tool_choice: { type: 'none' } },
  ],
])('carries %s', (_name, members, expected) => {
  expect(translate(members)).toMatchObject(expected);
});

test('carries sampling where the API version has it', () => {
  expect(translate({ temperature: 0.5, top_p: 1 }, '2023-06-01')).toMatchObject({ temperature: 0.5, top_p: 1 });
});

test.each([
  [{ n: 1, stream: false, store: false, logprobs: false, service_tier: 'auto', modalities: ['text'] }],
  [{ service_tier: 'default', response_format: { type: 'text' }, parallel_tool_calls: true }],
  [{ functions: [], metadata: {}, logit_bias: {}, tools: [], stop: [] }],
  [{ parallel_tool_calls: false, tool_choice: 'auto' }],
  [{ tool_choice: 'none' }],
  [
    Object.fromEntries(
      ['seed', 'n', 'temperature', 'user', 'tools', 'tool_choice', 'response_format', 'metadata', 'what'].map(
        (name) => [name, null],
      ),
    ),
  ],
])('leaves out what asks for nothing: %j', (members) => {
  expect(translate(members)).toEqual(translate({}));
});

test.each<[Record<string, unknown>, string]>([
  [{ seed: 0 }, 'seed'],
  [{ n: 2 }, 'n'],
  [{ frequency_penalty: 0 }, 'frequency_penalty'],
  [{ presence_penalty: 1 }, 'presence_penalty'],
  [{ logit_bias: { 5: 1 } }, 'logit_bias'],
  [{ logprobs: true }, 'logprobs'],
  [{ top_logprobs: 3 }, 'top_logprobs'],
  [{ metadata: { a: 'b' } }, 'metadata'],
  [{ modalities: ['text', 'audio'] }, 'modalities'],
  [{ audio: { voice: 'x' } }, 'audio'],
  [{ store: true }, 'store'],
  [{ service_tier: 'flex' }, 'service_tier'],
  [{ stream: true }, 'stream'],
  [{ stream_options: {} }, 'stream_options'],
  [{ verbosity: 'low' }, 'verbosity'],
  [{ prediction: {} }, 'prediction'],
  [{ web_search_options: {} }, 'web_search_options'],
  [{ moderation: {} }, 'moderation'],
  [{ prompt_cache_key: 'k' }, 'prompt_cache_key'],
  [{ prompt_cache_retention: '24h' }, 'prompt_cache_retention'],
  [{ functions: [{ name: 'f' }] }, 'functions'],
  [{ function_call: 'auto' }, 'function_call'],
  [{ what: 0 }, 'what'],
  [{ temperature: 1 }, 'temperature'],
  [{ top_p: 1 }, 'top_p'],
  [{ max_tokens: 5, max_completion_tokens: 6 }, 'max_tokens'],
  [{ max_tokens: 0 }, 'max_tokens'],
  [{ reasoning_effort: 'extreme' }, 'reasoning_effort'],
  [{ reasoning_effort: 'constructor' }, 'reasoning_effort'],
  [{ stop: [1] }, 'stop[0]'],
  [{ user: 1 }, 'user'],
  [{ response_format: { type: 'json_object' } }, 'response_format.type'],
  [{ response_format: { type: 'json_schema', json_schema: { name: 'n' } } }, 'response_format.json_schema.schema'],
  [{ response_format: { type: 'json_schema', json_schema: { schema: {}, x: 1 } } }, 'response_format.json_schema.x'],
  [{ tools: [{ type: 'custom', custom: { name: 'c' } }] }, 'tools[0].type'],
  [{ tools: [{ type: 'function', function: { name: 'f', x: 1 } }] }, 'tools[0].function.x'],
  [{ tools: [{ type: 'function', function: { name: 'f', strict: 'yes' } }] }, 'tools[0].function.strict'],
  [
    { tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'string' } } }] },
    'tools[0].function.parameters.type',
  ],
  [withTools({ tool_choice: { type: 'allowed_tools', allowed_tools: {} } }), 'tool_choice'],
  [withTools({ tool_choice: { type: 'custom', custom: { name: 'c' } } }), 'tool_choice'],
  [{ tool_choice: 'required' }, 'tool_choice'],
  [withContent([{ type: 'input_audio', input_audio: { data: '', format: 'mp3' } }]), 'messages[0].content[0].type'],
  [
    withContent([{ type: 'image_url', image_url: { url: 'https://x.test', detail: 'high' } }]),
    'messages[0].content[0].image_url.detail',
  ],
  [
    withContent([{ type: 'image_url', image_url: { url: 'data:image/tiff;base64,AA==' } }]),
    'messages[0].content[0].image_url.url',
  ],
  [withContent([{ type: 'image_url', image_url: { url: 'file:///a' } }]), 'messages[0].content[0].image_url.url'],
  [
    withContent([{ type: 'image_url', image_url: { url: 'data:image/png,%00' } }]),
    'messages[0].content[0].image_url.url',
  ],
  [withContent([{ type: 'file', file: { file_id: 'file-1' } }]), 'messages[0].content[0].file.file_id'],
  [withContent([{ type: 'file', file: { file_data: 'AA', file_id: 'f' } }]), 'messages[0].content[0].file.file_id'],
  [
    withContent([{ type: 'file', file: { file_data: 'data:application/zip;base64,AA==' } }]),
    'messages[0].content[0].file.file_data',
  ],
  [
    withContent([{ type: 'file', file: { file_data: 'data:text/plain;base64,/w==' } }]),
    'messages[0].content[0].file.file_data',
  ],
  [
    withContent([{ type: 'file', file: { file_data: 'data:text/plain;charset=utf-16;base64,AA==' } }]),
    'messages[0].content[0].file.file_data',
  ],
  [
    withContent([{ type: 'text', text: 'a', prompt_cache_breakpoint: {} }]),
    'messages[0].content[0].prompt_cache_breakpoint',
  ],
  [withContent([{ type: 'image_url', image_url: { url: 'https://x' } }], 'system'), 'messages[0].content[0].type'],
  [withContent([{ type: 'video' }]), 'messages[0].content[0].type'],
  [withContent('x', 'function'), 'messages[0].role'],
  [withContent(null), 'messages[0].content'],
  [withContent('', 'user'), 'messages'],
  [withContent('only instructions', 'system'), 'messages'],
  [{ messages: [{ ...HI, name: 'ann' }] }, 'messages[0].name'],
  [{ messages: [HI, { role: 'assistant', content: 'a', audio: { id: 'a' } }] }, 'messages[1].audio'],
  [{ messages: [HI, { role: 'assistant', function_call: { name: 'f' } }] }, 'messages[1].function_call'],
  [{ messages: [HI, { role: 'assistant', content: 'a', annotations: [{}] }] }, 'messages[1].annotations'],
  [withCall({ arguments: '{' }), 'messages[1].tool_calls[0].function.arguments'],
  [withCall({ arguments: '[1]' }), 'messages[1].tool_calls[0].function.arguments'],
  [withCall({ arguments: '{"n":12345678901234567890}' }), 'messages[1].tool_calls[0].function.arguments'],
  [withCall({ arguments: { a: 1 } }), 'messages[1].tool_calls[0].function.arguments'],
  [
    { messages: [HI, { role: 'assistant', tool_calls: [{ id: 'c', type: 'custom' }] }] },
    'messages[1].tool_calls[0].type',
  ],
  [{ messages: [HI, { role: 'tool', content: 'x' }] }, 'messages[1].tool_call_id'],
])('refuses %j at request.%s', (members, field) => {
  expect(() => translate(members)).toThrow(UntranslatableRequest);
  expect(() => translate(members)).toThrow(expect.objectContaining({ field: `request.${field}` }));
});

test.each([
  [{ temperature: 1.5 }, 'temperature'],
  [{ top_p: 2 }, 'top_p'],
])('refuses %j on a scale that ends at 1', (members, field) => {
  expect(() => translate(members, '2023-06-01')).toThrow(expect.objectContaining({ field: `request.${field}` }));
});

test('never quotes the request', () => {
  for (const members of [
    withCall({ arguments: '{"secret":12345678901234567890' }),
    withContent([{ type: 'secret' }]),
  ]) {
    expect(() => translate(members)).toThrow(
      expect.objectContaining({ message: expect.not.stringMatching(/secret|123/) }),
    );
  }
});

function withCall(called: Record<string, unknown>) {
  const call = { id: 'c', type: 'function', function: { name: 'f', ...called } };
  return { messages: [HI, { role: 'assistant', content: null, tool_calls: [call] }] };
}
