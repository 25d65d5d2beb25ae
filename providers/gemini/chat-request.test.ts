import { expect, test } from 'vitest';
import { toGenerateContent } from './chat-request.ts';

const model = 'gemini-2.5-flash';
const hello = { role: 'user', content: 'Hello' };
const helloTurn = { role: 'user', parts: [{ text: 'Hello' }] };
const translate = (request: object) => toGenerateContent({ messages: [hello], ...request }, { model });
const withParts = (...content: object[]) => ({ messages: [{ role: 'user', content }] });
const call = (id: string, name: string, args: string) => ({
  id,
  type: 'function',
  function: { name, arguments: args },
});
const lookup = { type: 'function', function: { name: 'lookup' } };
const settings = (generationConfig: object) => ({ contents: [helloTurn], generationConfig });

test.each([
  ['a plain question', {}, { contents: [helloTurn] }],
  [
    'instructions wherever they stand',
    {
      messages: [
        { role: 'system', content: 'One' },
        hello,
        {
          role: 'developer',
          content: [
            { type: 'text', text: 'Two' },
            { type: 'text', text: '' },
          ],
        },
      ],
    },
    { contents: [helloTurn], systemInstruction: { parts: [{ text: 'One' }, { text: 'Two' }] } },
  ],
  [
    'messages of one role in a row, and empty ones',
    {
      messages: [
        hello,
        { role: 'user', content: [{ type: 'text', text: 'again' }] },
        { role: 'user', content: '' },
        { role: 'assistant', content: 'Yes' },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: '?' },
            { type: 'refusal', refusal: 'No' },
          ],
        },
        { role: 'assistant', content: null, refusal: 'Never', annotations: [], audio: null },
      ],
    },
    {
      contents: [
        { role: 'user', parts: [{ text: 'Hello' }, { text: 'again' }] },
        { role: 'model', parts: [{ text: 'Yes' }, { text: '?' }, { text: 'No' }, { text: 'Never' }] },
      ],
    },
  ],
  [
    'an inline image',
    withParts({ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'auto' } }),
    { contents: [{ role: 'user', parts: [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }] }] },
  ],
  [
    'images that Gemini fetches, by their endings',
    withParts(
      { type: 'image_url', image_url: { url: 'https://example.com/a.webp?b=c.png' } },
      { type: 'image_url', image_url: { url: 'http://example.com/a' } },
    ),
    {
      contents: [
        {
          role: 'user',
          parts: [
            { fileData: { fileUri: 'https://example.com/a.webp?b=c.png', mimeType: 'image/webp' } },
            { fileData: { fileUri: 'http://example.com/a', mimeType: 'image/jpeg' } },
          ],
        },
      ],
    },
  ],
  [
    'image detail',
    withParts(
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } },
      { type: 'image_url', image_url: { url: 'data:;base64,BBBB', detail: 'high' } },
    ),
    {
      contents: [
        {
          role: 'user',
          parts: [
            {
              inlineData: { mimeType: 'image/png', data: 'AAAA' },
              mediaResolution: { level: 'MEDIA_RESOLUTION_LOW' },
            },
            {
              inlineData: { mimeType: 'image/jpeg', data: 'BBBB' },
              mediaResolution: { level: 'MEDIA_RESOLUTION_HIGH' },
            },
          ],
        },
      ],
    },
  ],
  [
    'files',
    withParts(
      { type: 'file', file: { file_data: 'data:text/csv;charset=utf-8;base64,QQ==', filename: 'a.csv' } },
      { type: 'file', file: { file_data: 'JVBERi0=' } },
    ),
    {
      contents: [
        {
          role: 'user',
          parts: [
            { inlineData: { mimeType: 'text/csv', data: 'QQ==' } },
            { inlineData: { mimeType: 'application/pdf', data: 'JVBERi0=' } },
          ],
        },
      ],
    },
  ],
  [
    'tool calls and their answers',
    {
      messages: [
        hello,
        { role: 'assistant', content: 'Wait', tool_calls: [call('c1', 'lookup', '{"a":1}'), call('c2', 'now', '')] },
        {
          role: 'tool',
          tool_call_id: 'c2',
          content: [
            { type: 'text', text: 'no' },
            { type: 'text', text: 'on' },
          ],
        },
        { role: 'tool', tool_call_id: 'c1', content: '{"b":[2]}' },
        { role: 'user', content: 'Thanks' },
      ],
    },
    {
      contents: [
        helloTurn,
        {
          role: 'model',
          parts: [
            { text: 'Wait' },
            { functionCall: { id: 'c1', name: 'lookup', args: { a: 1 } } },
            { functionCall: { id: 'c2', name: 'now', args: {} } },
          ],
        },
        {
          role: 'user',
          parts: [
            { functionResponse: { id: 'c2', name: 'now', response: { result: 'noon' } } },
            { functionResponse: { id: 'c1', name: 'lookup', response: { b: [2] } } },
            { text: 'Thanks' },
          ],
        },
      ],
    },
  ],
  [
    'functions',
    {
      tools: [
        {
          type: 'function',
          function: { name: 'lookup', description: 'Looks', parameters: { type: 'object' }, strict: false },
        },
        { type: 'function', function: { name: 'now' } },
      ],
    },
    {
      contents: [helloTurn],
      tools: [
        {
          functionDeclarations: [
            { name: 'lookup', description: 'Looks', parametersJsonSchema: { type: 'object' } },
            { name: 'now' },
          ],
        },
      ],
    },
  ],
  ['the longest reply', { max_tokens: 7 }, settings({ maxOutputTokens: 7 })],
  ['the longest reply by both names', { max_completion_tokens: 9, max_tokens: 7 }, settings({ maxOutputTokens: 9 })],
  ['sampling', { temperature: 0, top_p: 0.5 }, settings({ temperature: 0, topP: 0.5 })],
  ['a stop', { stop: 'END' }, settings({ stopSequences: ['END'] })],
  ['stops', { stop: ['A', 'B'], seed: 4 }, settings({ seed: 4, stopSequences: ['A', 'B'] })],
  ['choices', { n: 3 }, settings({ candidateCount: 3 })],
  [
    'penalties',
    { frequency_penalty: 0.5, presence_penalty: -1 },
    settings({ frequencyPenalty: 0.5, presencePenalty: -1 }),
  ],
  ['an effort', { reasoning_effort: 'minimal' }, settings({ thinkingConfig: { thinkingLevel: 'MINIMAL' } })],
  ['a low effort', { reasoning_effort: 'low' }, settings({ thinkingConfig: { thinkingLevel: 'LOW' } })],
  ['a medium effort', { reasoning_effort: 'medium' }, settings({ thinkingConfig: { thinkingLevel: 'MEDIUM' } })],
  ['a high effort', { reasoning_effort: 'high' }, settings({ thinkingConfig: { thinkingLevel: 'HIGH' } })],
  ['the highest effort', { reasoning_effort: 'xhigh' }, settings({ thinkingConfig: { thinkingLevel: 'XHIGH' } })],
  ['no thinking', { reasoning_effort: 'none' }, settings({ thinkingConfig: { thinkingBudget: 0 } })],
  [
    'JSON of any shape',
    { response_format: { type: 'json_object' } },
    settings({ responseMimeType: 'application/json' }),
  ],
  [
    'JSON by a schema',
    { response_format: { type: 'json_schema', json_schema: { name: 'n', strict: true, schema: { type: 'object' } } } },
    settings({ responseMimeType: 'application/json', responseJsonSchema: { type: 'object' } }),
  ],
  [
    'values that ask for nothing',
    {
      model: 'alias',
      n: 1,
      stream: false,
      store: false,
      logprobs: false,
      parallel_tool_calls: true,
      service_tier: 'auto',
      modalities: ['text'],
      response_format: { type: 'text' },
      stop: null,
      tools: [],
      functions: [],
      logit_bias: {},
      metadata: null,
      tool_choice: 'auto',
    },
    { contents: [helloTurn] },
  ],
])('translates %s', (_name, request, expected) => {
  expect(translate(request)).toEqual(expected);
});

test.each([
  ['auto', { mode: 'AUTO' }],
  ['none', { mode: 'NONE' }],
  ['required', { mode: 'ANY' }],
  [lookup, { mode: 'ANY', allowedFunctionNames: ['lookup'] }],
])('translates the tool choice %j', (choice, expected) => {
  expect(translate({ tools: [lookup], tool_choice: choice }).toolConfig).toEqual({ functionCallingConfig: expected });
});

test('signs the first of the calls made at once for models that refuse unsigned ones', () => {
  const signaturesOf = (name: string) => {
    const messages = [hello, { role: 'assistant', tool_calls: [call('c1', 'now', ''), call('c2', 'now', '')] }];
    const { contents } = toGenerateContent({ messages }, { model: name });
    return contents[1]?.parts?.map(({ thoughtSignature }) => thoughtSignature);
  };
  const signed = ['skip_thought_signature_validator', undefined];
  expect(signaturesOf('gemini-2.5-flash')).toEqual([undefined, undefined]);
  expect(signaturesOf('gemini-3.8-flash')).toEqual(signed);
  expect(signaturesOf('models/gemini-4-neon')).toEqual(signed);
  expect(signaturesOf('gemini-31')).toEqual(signed);
});

const image = (image_url: object) => withParts({ type: 'text', text: 'See' }, { type: 'image_url', image_url });
const assistant = (message: object) => ({ messages: [hello, { role: 'assistant', content: 'x', ...message }] });
const calling = (toolCall: object) => assistant({ tool_calls: [toolCall] });

test.each([
  [image({ url: 'gs://bucket/a.png' }), 'messages[0].content[1].image_url.url'],
  [image({ url: 'data:image/svg+xml,<svg/>' }), 'messages[0].content[1].image_url.url'],
  [image({ url: 'https://example.com/a.png', detail: 'original' }), 'messages[0].content[1].image_url.detail'],
  [withParts({ type: 'file', file: { file_id: 'file-1' } }), 'messages[0].content[0].file.file_id'],
  [withParts({ type: 'file', file: { file_data: 'data:text/plain,x' } }), 'messages[0].content[0].file.file_data'],
  [withParts({ type: 'input_audio', input_audio: { data: 'AA', format: 'wav' } }), 'messages[0].content[0]'],
  [withParts({ type: 'text', text: 'x', cache_control: { type: 'a' } }), 'messages[0].content[0].cache_control'],
  [{ messages: [{ ...hello, name: 'Ann' }] }, 'messages[0].name'],
  [{ messages: [hello, { role: 'function', name: 'f', content: 'x' }] }, 'messages[1].role'],
  [{ messages: [{ role: 'system', content: 'Only this' }] }, 'messages'],
  [{ messages: [{ role: 'system', content: [{ type: 'image_url' }] }, hello] }, 'messages[0].content[0]'],
  [assistant({ function_call: { name: 'f', arguments: '' } }), 'messages[1].function_call'],
  [assistant({ audio: { id: 'audio-1' } }), 'messages[1].audio'],
  [calling({ id: 'c1', type: 'custom', custom: { name: 'f', input: '' } }), 'messages[1].tool_calls[0].type'],
  [calling({ ...call('c1', 'f', ''), extra_content: { google: {}, a: 1 } }), 'messages[1].tool_calls[0].extra_content'],
  [calling(call('c1', 'f', '[1]')), 'messages[1].tool_calls[0].function.arguments'],
  [calling(call('c1', 'f', '{"a"')), 'messages[1].tool_calls[0].function.arguments'],
  [{ messages: [hello, { role: 'tool', tool_call_id: 'c9', content: 'x' }] }, 'messages[1].tool_call_id'],
  [{ functions: [{ name: 'f' }] }, 'functions'],
  [{ function_call: 'auto' }, 'function_call'],
  [{ tools: [{ type: 'custom', custom: { name: 'f' } }] }, 'tools[0].type'],
  [{ tools: [{ type: 'function', function: { name: 'f', strict: true } }] }, 'tools[0].function.strict'],
  [{ tools: [lookup], tool_choice: { type: 'allowed_tools', allowed_tools: {} } }, 'tool_choice'],
  [{ tools: [lookup], tool_choice: { type: 'custom', custom: { name: 'f' } } }, 'tool_choice'],
  [{ parallel_tool_calls: false }, 'parallel_tool_calls'],
  [{ response_format: { type: 'grammar' } }, 'response_format.type'],
  [{ response_format: { type: 'json_object', mode: 1 } }, 'response_format.mode'],
  [
    { response_format: { type: 'json_schema', json_schema: { name: 'n', depth: 2 } } },
    'response_format.json_schema.depth',
  ],
  [{ reasoning_effort: 'max' }, 'reasoning_effort'],
  [{ logit_bias: { 5: 1 } }, 'logit_bias'],
  [{ logprobs: true }, 'logprobs'],
  [{ top_logprobs: 2 }, 'top_logprobs'],
  [{ user: 'u' }, 'user'],
  [{ safety_identifier: 'u' }, 'safety_identifier'],
  [{ metadata: { a: 'b' } }, 'metadata'],
  [{ modalities: ['text', 'audio'] }, 'modalities'],
  [{ audio: { voice: 'v', format: 'wav' } }, 'audio'],
  [{ store: true }, 'store'],
  [{ service_tier: 'flex' }, 'service_tier'],
  [{ stream: true }, 'stream'],
  [{ stream_options: { include_usage: true } }, 'stream_options'],
  [{ verbosity: 'low' }, 'verbosity'],
  [{ prediction: { type: 'content', content: 'x' } }, 'prediction'],
  [{ web_search_options: { search_context_size: 'low' } }, 'web_search_options'],
  [{ moderation: { level: 'a' } }, 'moderation'],
  [{ prompt_cache_key: 'k' }, 'prompt_cache_key'],
  [{ prompt_cache_retention: '24h' }, 'prompt_cache_retention'],
  [{ something_new: 1 }, 'something_new'],
])('refuses %j at %s', (request, field) => {
  expect(() => translate(request)).toThrow(
    expect.objectContaining({ name: 'UntranslatableRequest', field: `request.${field}` }),
  );
});

test('never quotes the request', () => {
  expect(() => translate(calling(call('c1', 'f', 'my secret')))).toThrow(
    expect.objectContaining({ message: expect.not.stringContaining('secret') }),
  );
});
