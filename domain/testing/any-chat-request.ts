import fc from 'fast-check';

/*
 * Chat completion bodies of all that OpenAI's types have, and of what strays into them: far more than any other provider
 * can be asked. Most of a body is plain, so that bodies without any refused member are among them.
 */

const word = fc.stringMatching(/^[a-z]{1,4}$/);
const text = fc.oneof(word, fc.constantFrom('', ' ', 'é😀'));
const json = fc.constantFrom<unknown>(null, {}, [], [1], { a: 1 }, 'x', true, 0, 1.5);
const base64 = fc.oneof(
  fc.uint8Array({ maxLength: 6 }).map((bytes) => Buffer.from(bytes).toString('base64')),
  text.map((value) => Buffer.from(value).toString('base64')),
  fc.constantFrom('Y Q==', 'not base64!'),
);
const header = fc.constantFrom(
  ...['image/png;base64', 'image/bmp;base64', 'image/PNG;base64', 'image/png', 'audio/mp3;base64', 'video/mp4;base64'],
  ...['application/pdf;base64', 'application/pdf;name=a.pdf;base64', 'application/msword;base64', ';base64', ''],
  ...['text/plain;base64', 'text/csv;charset=utf-8;base64', 'text/csv;charset=latin1;base64', 'text/plain'],
);
const dataUrl = fc.tuple(header, base64).map(([head, data]) => `data:${head},${data}`);
const url = fc.oneof(
  dataUrl,
  fc.constantFrom('https://x/a.png', 'HTTP://x', 'gs://a/b', '', 'data:', 'DATA:image/png;base64,AA'),
);

/** `members` all there, and of `rare` hardly any. */
function mostly(members: Record<string, fc.Arbitrary<unknown>>, rare: Record<string, fc.Arbitrary<unknown>>) {
  const some = fc.oneof(
    { weight: 6, arbitrary: fc.constant<Record<string, unknown>>({}) },
    { weight: 1, arbitrary: fc.record(rare, { requiredKeys: [] }) },
  );
  return fc.tuple(fc.record(members), some).map(([all, few]) => ({ ...all, ...few }));
}

const stray = { stray: json, cache_control: json };
const part = fc.oneof(
  mostly({ type: fc.constant('text'), text }, { ...stray, prompt_cache_breakpoint: json }),
  mostly(
    {
      type: fc.constant('image_url'),
      image_url: mostly({ url }, { ...stray, detail: fc.constantFrom('auto', 'low', 'high', 'original', null) }),
    },
    stray,
  ),
  mostly(
    {
      type: fc.constant('file'),
      file: mostly({ file_data: fc.oneof(dataUrl, base64) }, { filename: text, file_id: json, ...stray }),
    },
    stray,
  ),
  mostly({ type: fc.constant('input_audio'), input_audio: fc.constant({ data: 'AAAA', format: 'wav' }) }, stray),
  mostly({ type: fc.constant('refusal'), refusal: text }, stray),
);
const content = fc.oneof(
  text,
  fc.array(mostly({ type: fc.constant('text'), text }, stray), { minLength: 1, maxLength: 2 }),
  fc.array(part, { minLength: 1, maxLength: 2 }),
);
const id = fc.constantFrom('a', 'b', '');
const call = mostly(
  {
    id,
    type: fc.constant('function'),
    function: mostly(
      { name: word, arguments: fc.constantFrom('', ' ', '{}', '{"a":1}', '[1]', '{', '{"a":12345678901234567890}') },
      stray,
    ),
  },
  { ...stray, type: fc.constantFrom('custom', null), function: json, id: json },
);
const message = fc.oneof(
  mostly({ role: fc.constant('user'), content }, { name: word, ...stray, tool_calls: json }),
  mostly({ role: fc.constantFrom('system', 'developer'), content }, { name: word, ...stray }),
  mostly(
    { role: fc.constant('assistant'), content },
    {
      refusal: text,
      tool_calls: fc.array(call, { maxLength: 2 }),
      annotations: json,
      audio: json,
      function_call: json,
      name: word,
    },
  ),
  fc.record({
    role: fc.constant('assistant'),
    content: fc.constant(null),
    tool_calls: fc.array(call, { minLength: 1, maxLength: 2 }),
  }),
  mostly({ role: fc.constant('tool'), content, tool_call_id: id }, stray),
  mostly({ role: fc.constant('function'), content, name: word }, stray),
);
const tool = fc.oneof(
  mostly(
    {
      type: fc.constant('function'),
      function: mostly(
        { name: word },
        {
          description: text,
          strict: fc.boolean(),
          parameters: fc.constantFrom({}, { type: 'object' }, { type: 'string' }, null),
          ...stray,
        },
      ),
    },
    stray,
  ),
  fc.constantFrom({ type: 'custom', custom: { name: 'f' } }, { type: 'web_search' }),
);
const choice = fc.oneof(
  fc.constantFrom<unknown>(
    'auto',
    'none',
    'required',
    { type: 'custom', custom: { name: 'f' } },
    { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [] } },
  ),
  mostly({ type: fc.constant('function'), function: mostly({ name: word }, stray) }, stray),
);
const format = fc.oneof(
  mostly({ type: fc.constantFrom('text', 'json_object', 'grammar') }, { json_schema: json, ...stray }),
  mostly(
    {
      type: fc.constant('json_schema'),
      json_schema: mostly(
        { name: word, schema: fc.constant({ type: 'object' }) },
        { schema: json, strict: fc.boolean(), description: text, ...stray },
      ),
    },
    stray,
  ),
);

const MEMBERS = {
  tools: fc.array(tool, { maxLength: 2 }),
  tool_choice: choice,
  response_format: format,
  temperature: fc.constantFrom(0, 1, 1.5, 2),
  top_p: fc.constantFrom(0, 1),
  max_tokens: fc.constantFrom(1, 2),
  max_completion_tokens: fc.constantFrom(1, 2),
  n: fc.constantFrom(1, 2),
  stop: fc.oneof(text, fc.array(text, { maxLength: 2 })),
  seed: fc.integer(),
  reasoning_effort: fc.constantFrom('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max', 'other'),
  user: text,
  safety_identifier: text,
  parallel_tool_calls: fc.boolean(),
  frequency_penalty: fc.constantFrom(0, 1),
  stream: fc.boolean(),
  store: fc.boolean(),
  logprobs: fc.boolean(),
  service_tier: fc.constantFrom('auto', 'default', 'flex'),
  modalities: fc.constantFrom([], ['text'], ['text', 'audio']),
  model: word,
};
const OTHERS = Object.fromEntries(
  [
    ...[
      'presence_penalty',
      'logit_bias',
      'top_logprobs',
      'verbosity',
      'function_call',
      'functions',
      'audio',
      'prediction',
    ],
    ...[
      'web_search_options',
      'metadata',
      'moderation',
      'stream_options',
      'prompt_cache_key',
      'prompt_cache_options',
      'stray',
    ],
  ].map((name) => [name, json]),
);

/** Bodies of any kind; what of them is well-formed is for the inspection to say. */
export const anyChatRequest: fc.Arbitrary<Record<string, unknown>> = fc
  .record({
    messages: fc.array(message, { minLength: 1, maxLength: 4 }),
    few: fc.subarray(Object.keys(MEMBERS), { maxLength: 4 }),
    members: fc.record(MEMBERS),
    rare: mostly({}, OTHERS),
  })
  .map(({ messages, few, members, rare }) => ({
    messages,
    ...Object.fromEntries(Object.entries(members).filter(([name]) => few.includes(name))),
    ...rare,
  }));
