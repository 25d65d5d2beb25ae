import { describe, expect, test } from 'vitest';
import { FEATURE, type Feature, hasFeature } from './request-features.ts';
import { inspectRequest } from './request-inspection.ts';

const USER = { role: 'user', content: 'What is 6 times 7?' };
const inspect = (request: unknown) => inspectRequest('chat.completions', request);
const featuresOf = (features: number) =>
  (Object.keys(FEATURE) as Feature[]).filter((name) => hasFeature(features, name));
const chat = (members: object) => ({ messages: [USER], ...members });
const message = (members: object) => ({ messages: [{ role: 'user', content: 'x', ...members }] });
const part = (members: object) => message({ content: [members] });

test('finds nothing wrong with a plain request, and measures it', () => {
  expect(inspect(chat({ max_tokens: 20 }))).toEqual({
    features: 0,
    inputTokens: expect.any(Number),
    maxOutputTokens: 20,
    choices: 1,
    embeddingInputs: 0,
    model: null,
    problems: [],
  });
});

test.each<[object, Feature[]]>([
  [{ model: 'openai/gpt-4o' }, []],
  [{ stream: true, stream_options: { include_usage: true } }, ['STREAM', 'PROVIDER_SPECIFIC']],
  [{ stream: false }, []],
  [{ temperature: 1 }, ['SAMPLING']],
  [{ temperature: 1.1 }, ['SAMPLING', 'WIDE_SAMPLING']],
  [{ top_p: 0.5, frequency_penalty: 1 }, ['SAMPLING', 'WIDE_SAMPLING']],
  [{ logit_bias: { 50256: -100 } }, ['PROVIDER_SPECIFIC']],
  [{ n: 1, seed: 7, stop: ['a', 'b'] }, ['SEED']],
  [{ n: 2, stop: 'a' }, ['MULTIPLE_CHOICES']],
  [{ logprobs: true, top_logprobs: 3 }, ['LOGPROBS']],
  [{ reasoning_effort: 'high' }, ['REASONING']],
  [{ reasoning_effort: 'none' }, ['REASONING_OFF']],
  [{ reasoning_effort: 'max' }, ['REASONING', 'PROVIDER_SPECIFIC']],
  [{ response_format: { type: 'text' } }, []],
  [{ response_format: { type: 'json_schema', json_schema: { name: 'x', schema: {} } } }, ['STRUCTURED_OUTPUT']],
  [
    { response_format: { type: 'json_schema', json_schema: { name: 'x' } } },
    ['STRUCTURED_OUTPUT', 'PROVIDER_SPECIFIC'],
  ],
  [
    { response_format: { type: 'json_schema', json_schema: { schema: {}, mode: 1 } } },
    ['STRUCTURED_OUTPUT', 'UNKNOWN_FIELD'],
  ],
  [{ response_format: { type: 'json_object' } }, ['JSON_MODE']],
  [{ response_format: { type: 'grammar' } }, ['STRUCTURED_OUTPUT', 'PROVIDER_SPECIFIC']],
  [{ tools: [] }, []],
  [{ tools: [{ type: 'function', function: { name: 'f', strict: true } }] }, ['TOOLS', 'TOOL_RULES']],
  [{ tools: [{ type: 'function', function: { name: 'f', strict: false, parameters: {} } }] }, ['TOOLS']],
  [{ tools: [{ type: 'function', function: { name: 'f', cache: 1 } }] }, ['TOOLS', 'UNKNOWN_FIELD']],
  [{ tools: [{ type: 'custom', custom: { name: 'f' } }] }, ['TOOLS', 'PROVIDER_SPECIFIC']],
  [{ tool_choice: { type: 'function', function: { name: 'f' } } }, ['FORCED_TOOL', 'PROVIDER_SPECIFIC']],
  [
    { tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'string' } } }] },
    ['TOOLS', 'PROVIDER_SPECIFIC'],
  ],
  [
    {
      tools: [{ type: 'function', function: { name: 'f' } }],
      tool_choice: { type: 'function', function: { name: 'f' } },
    },
    ['TOOLS', 'FORCED_TOOL'],
  ],
  [{ tool_choice: { type: 'custom', custom: { name: 'f' } } }, ['FORCED_TOOL', 'PROVIDER_SPECIFIC']],
  [{ tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto' } } }, ['PROVIDER_SPECIFIC']],
  [{ functions: [{ name: 'f' }], function_call: 'auto' }, ['TOOLS', 'PROVIDER_SPECIFIC']],
  [{ parallel_tool_calls: true }, []],
  [{ parallel_tool_calls: false }, ['TOOL_RULES']],
  [{ verbosity: 'low' }, ['PROVIDER_SPECIFIC']],
  [{ prediction: { type: 'content', content: 'x' } }, ['PROVIDER_SPECIFIC']],
  [{ prompt_cache_key: 'k' }, ['PROVIDER_SPECIFIC']],
  [{ web_search_options: {} }, ['SERVER_TOOLS']],
  [{ tools: [{ type: 'function', function: { name: 'f' } }], tool_choice: 'auto' }, ['TOOLS']],
  [{ tools: [{ type: 'function', function: { name: 'f' } }], tool_choice: 'required' }, ['TOOLS', 'FORCED_TOOL']],
  [{ tools: [{ type: 'web_search' }] }, ['TOOLS', 'SERVER_TOOLS']],
  [{ modalities: ['text', 'audio'] }, ['MEDIA_OUTPUT']],
  [{ store: true, service_tier: 'flex' }, ['PROVIDER_STATE', 'SERVICE_TIER']],
  [{ store: false, service_tier: 'auto' }, []],
  [{ user: 'u', metadata: {}, logit_bias: {}, functions: [] }, ['END_USER']],
  [{ metadata: { a: 'b' } }, ['PROVIDER_SPECIFIC']],
  [{ max_tokens: 1, max_completion_tokens: 1 }, []],
  [{ max_tokens: 1, max_completion_tokens: 2 }, ['PROVIDER_SPECIFIC']],
  [{ response_format: { type: 'text', json_schema: {} } }, ['UNKNOWN_FIELD']],
  [{ safety_identifier: 'u' }, ['END_USER']],
  [{ brand_new_option: 1 }, ['UNKNOWN_FIELD']],
  [{ temperature: null, stream: null, tools: null, model: null }, []],
])('%j asks for %j', (members, features) => {
  const inspection = inspect(chat(members));
  expect(inspection.problems).toEqual([]);
  expect(featuresOf(inspection.features)).toEqual(features);
});

test.each<[object, Feature[]]>([
  [{ type: 'text', text: 'x' }, []],
  [{ type: 'image_url', image_url: { url: 'https://example.com/a.png' } }, ['IMAGE_INPUT', 'REMOTE_MEDIA']],
  [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }, ['IMAGE_INPUT']],
  [{ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }, ['AUDIO_INPUT']],
  [{ type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' } }, ['DOCUMENT_INPUT']],
  [{ type: 'file', file: { file_data: 'AAAA' } }, ['DOCUMENT_INPUT']],
  [{ type: 'file', file: { file_id: 'file-1' } }, ['DOCUMENT_INPUT', 'PROVIDER_FILE']],
  [{ type: 'image_url', image_url: { url: 'data:image/bmp;base64,AAAA' } }, ['IMAGE_INPUT', 'OTHER_MEDIA']],
  [{ type: 'image_url', image_url: { url: 'data:image/png,AAAA' } }, ['IMAGE_INPUT', 'PROVIDER_SPECIFIC']],
  [{ type: 'image_url', image_url: { url: 'data:application/pdf;base64,AA' } }, ['DOCUMENT_INPUT', 'OTHER_MEDIA']],
  [{ type: 'image_url', image_url: { url: 'gs://a/b' } }, ['IMAGE_INPUT', 'REMOTE_MEDIA', 'PROVIDER_SPECIFIC']],
  [{ type: 'image_url', image_url: { url: 'https://x', detail: 'auto' } }, ['IMAGE_INPUT', 'REMOTE_MEDIA']],
  [
    { type: 'image_url', image_url: { url: 'https://x', detail: 'low' } },
    ['IMAGE_INPUT', 'REMOTE_MEDIA', 'IMAGE_DETAIL'],
  ],
  [
    { type: 'image_url', image_url: { url: 'https://x', detail: 'original' } },
    ['IMAGE_INPUT', 'REMOTE_MEDIA', 'IMAGE_DETAIL', 'PROVIDER_SPECIFIC'],
  ],
  [{ type: 'file', file: { file_data: 'data:image/png;base64,AAAA' } }, ['IMAGE_INPUT', 'OTHER_MEDIA']],
  [{ type: 'file', file: { file_data: 'data:text/csv;base64,YSxi' } }, ['DOCUMENT_INPUT']],
  [{ type: 'file', file: { file_data: 'data:text/csv;base64,gA==' } }, ['DOCUMENT_INPUT', 'PROVIDER_SPECIFIC']],
  [
    { type: 'file', file: { file_data: 'data:text/csv;charset=latin1;base64,YQ==' } },
    ['DOCUMENT_INPUT', 'PROVIDER_SPECIFIC'],
  ],
  [{ type: 'text', text: 'x', prompt_cache_breakpoint: { type: 'x' } }, ['PROVIDER_SPECIFIC']],
  [{ type: 'text', text: 'x', cache_control: { type: 'ephemeral' } }, ['UNKNOWN_FIELD']],
  [{ type: 'refusal', refusal: 'No.' }, ['PROVIDER_SPECIFIC']],
])('a content part %j asks for %j', (members, features) => {
  const inspection = inspect(part(members));
  expect(inspection.problems).toEqual([]);
  expect(featuresOf(inspection.features)).toEqual(features);
});

const call = (members: object) => ({ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' }, ...members });
const called = (members: object) => ({ role: 'assistant', tool_calls: [call(members)] });

test.each<[object[], Feature[]]>([
  [[{ role: 'system', content: 'Be brief.' }, USER], []],
  [[{ role: 'system', content: 'Be brief.' }], ['PROVIDER_SPECIFIC']],
  [[{ role: 'user', content: '' }], ['PROVIDER_SPECIFIC']],
  [[{ role: 'user', content: [{ type: 'text', text: '' }] }], ['PROVIDER_SPECIFIC']],
  [[{ ...USER, name: 'Ann' }], ['PROVIDER_SPECIFIC']],
  [[{ ...USER, name: null, weather: null }], []],
  [[{ ...USER, weather: 'fine' }], ['UNKNOWN_FIELD']],
  [[USER, { role: 'assistant', content: 'x', annotations: [], refusal: null }], []],
  [[USER, { role: 'function', name: 'f', content: 'x' }], ['PROVIDER_SPECIFIC']],
  [[USER, { role: 'assistant', content: null, audio: { id: 'a' }, refusal: 'No.' }], ['PROVIDER_SPECIFIC']],
  [
    [USER, { role: 'system', content: [{ type: 'image_url', image_url: { url: 'https://x' } }] }],
    ['IMAGE_INPUT', 'REMOTE_MEDIA', 'PROVIDER_SPECIFIC'],
  ],
  [[called({}), { role: 'tool', tool_call_id: 'c', content: 'x' }], []],
  [[called({ function: { name: 'f', arguments: '' } })], []],
  [[called({ function: { name: 'f', arguments: '{' } })], ['PROVIDER_SPECIFIC']],
  [[called({ function: { name: 'f', arguments: '[1]' } })], ['PROVIDER_SPECIFIC']],
  [[called({ function: { name: 'f', arguments: '{"a":12345678901234567890}' } })], ['PROVIDER_SPECIFIC']],
  [[called({ function: { arguments: '{}' } })], ['PROVIDER_SPECIFIC']],
  [[called({ type: 'custom', custom: { name: 'f', input: 'x' } })], ['PROVIDER_SPECIFIC', 'UNKNOWN_FIELD']],
  [[called({ index: 0 })], ['UNKNOWN_FIELD']],
  [[USER, { role: 'tool', tool_call_id: 'other', content: 'x' }], ['PROVIDER_SPECIFIC']],
  [[{ role: 'tool', tool_call_id: 'c', content: 'x' }, called({})], ['PROVIDER_SPECIFIC']],
])('messages %j ask for %j', (messages, features) => {
  const inspection = inspect({ messages });
  expect(inspection.problems).toEqual([]);
  expect(featuresOf(inspection.features).toSorted()).toEqual(features.toSorted());
});

test.each<[unknown, string]>([
  ['text', 'request'],
  [null, 'request'],
  [[], 'request'],
  [{}, 'request.messages'],
  [{ messages: [] }, 'request.messages'],
  [{ messages: 'hi' }, 'request.messages'],
  [{ messages: [USER, 'hi'] }, 'request.messages[1]'],
  [{ messages: [{ content: 'x' }] }, 'request.messages[0].role'],
  [message({ role: 'robot' }), 'request.messages[0].role'],
  [message({ content: null }), 'request.messages[0].content'],
  [message({ content: 7 }), 'request.messages[0].content'],
  [message({ content: [] }), 'request.messages[0].content'],
  [message({ role: 'assistant', content: null }), 'request.messages[0].content'],
  [message({ role: 'tool' }), 'request.messages[0].tool_call_id'],
  [message({ role: 'assistant', tool_calls: {} }), 'request.messages[0].tool_calls'],
  [message({ content: ['x'] }), 'request.messages[0].content[0]'],
  [part({ type: 'video' }), 'request.messages[0].content[0].type'],
  [part({ type: 'text' }), 'request.messages[0].content[0].text'],
  [part({ type: 'image_url', image_url: 'https://x' }), 'request.messages[0].content[0].image_url.url'],
  [part({ type: 'input_audio', input_audio: {} }), 'request.messages[0].content[0].input_audio.data'],
  [part({ type: 'file', file: {} }), 'request.messages[0].content[0].file'],
  [chat({ model: '' }), 'request.model'],
  [chat({ model: 7 }), 'request.model'],
  [chat({ stream: 'true' }), 'request.stream'],
  [chat({ temperature: '0' }), 'request.temperature'],
  [chat({ temperature: 2.1 }), 'request.temperature'],
  [chat({ max_tokens: 0 }), 'request.max_tokens'],
  [chat({ max_completion_tokens: 1.5 }), 'request.max_completion_tokens'],
  [chat({ n: 0 }), 'request.n'],
  [chat({ n: 129 }), 'request.n'],
  [chat({ stop: [1] }), 'request.stop'],
  [chat({ tools: {} }), 'request.tools'],
  [chat({ tools: ['f'] }), 'request.tools[0]'],
  [chat({ tools: [{ type: 'function' }] }), 'request.tools[0].function.name'],
  [
    chat({ tools: [{ type: 'function', function: { name: 'f', parameters: 'x' } }] }),
    'request.tools[0].function.parameters',
  ],
  [chat({ tools: [{ type: 'function', function: { name: 'f', strict: 'x' } }] }), 'request.tools[0].function.strict'],
  [
    chat({ tools: [{ type: 'function', function: { name: 'f', description: 1 } }] }),
    'request.tools[0].function.description',
  ],
  [message({ role: 'assistant', tool_calls: ['x'] }), 'request.messages[0].tool_calls[0]'],
  [message({ role: 'assistant', refusal: 7 }), 'request.messages[0].refusal'],
  [
    part({ type: 'image_url', image_url: { url: 'https://x', detail: 1 } }),
    'request.messages[0].content[0].image_url.detail',
  ],
  [part({ type: 'file', file: { file_data: 'AAAA', filename: 1 } }), 'request.messages[0].content[0].file.filename'],
  [chat({ tool_choice: 'always' }), 'request.tool_choice'],
  [chat({ response_format: 'json' }), 'request.response_format'],
  [chat({ reasoning_effort: 3 }), 'request.reasoning_effort'],
])('%j is at fault in %s', (request, field) => {
  const { problems, features } = inspect(request);
  expect(problems.map((problem) => problem.field)).toEqual([field]);
  expect(problems[0]).toMatchObject({ error: 'invalid_item', message: expect.stringMatching(/^must /) });
  expect(hasFeature(features, 'MALFORMED')).toBe(true);
});

test.each([
  message({ role: 'assistant', content: null, tool_calls: [{ id: 'c', type: 'function', function: {} }] }),
  message({ role: 'assistant', content: undefined, refusal: 'No.' }),
  message({ role: 'tool', tool_call_id: 'c' }),
  message({ role: 'developer' }),
  message({ content: '' }),
])('%j is well-formed', (request) => {
  expect(inspect(request).problems).toEqual([]);
});

test('names every fault of a request, up to twenty', () => {
  expect(inspect({ messages: [{ content: 7 }], stream: 1 }).problems.map(({ field }) => field)).toEqual([
    'request.stream',
    'request.messages[0].role',
    'request.messages[0].content',
  ]);
  expect(inspect({ messages: Array.from({ length: 99 }, () => 'x') }).problems).toHaveLength(20);
});

describe('input tokens', () => {
  const tokens = (request: object) => inspect(request).inputTokens;

  test('grow with text, tools, schemas and earlier tool calls', () => {
    const plain = tokens(chat({}));
    expect(plain).toBeGreaterThan(0);
    const schema = { type: 'object', properties: { colour: { type: 'string', description: 'of the car' } } };
    for (const larger of [
      { messages: [{ ...USER, content: USER.content.repeat(3) }] },
      { messages: [USER, USER] },
      chat({ tools: [{ type: 'function', function: { name: 'paint', parameters: schema } }] }),
      chat({ response_format: { type: 'json_schema', json_schema: { name: 'car', schema } } }),
      { messages: [USER, { role: 'assistant', tool_calls: [{ function: { name: 'f', arguments: '{}' } }] }] },
      { messages: [USER, { role: 'assistant', function_call: { name: 'paint', arguments: '{"car":"red"}' } }] },
    ]) {
      expect(tokens(larger)).toBeGreaterThan(plain + 5);
    }
  });

  test('of a 1 MB attachment are not below the floor of its size', () => {
    const data = 'A'.repeat(1_400_000);
    const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } };
    expect(tokens(part(image))).toBeGreaterThanOrEqual(4_000);
    expect(tokens(part({ type: 'file', file: { filename: 'x', file_data: data } }))).toBeGreaterThanOrEqual(50_000);
  });
});
