import fc from 'fast-check';
import type OpenAI from 'openai';

type Request = OpenAI.ChatCompletionCreateParamsNonStreaming;
type Message = OpenAI.ChatCompletionMessageParam;
type Part = OpenAI.ChatCompletionContentPart;
type ImageDetail = NonNullable<OpenAI.ChatCompletionContentPartImage.ImageURL['detail']>;

/** What a provider carries beyond messages and tools. */
export interface NeutralChatOptions {
  /** Members drawn besides `messages`, `tools` and `tool_choice`; each is present or not. */
  members: readonly NeutralChatMember[];
  /** Media types of files that come as `data:` URLs. */
  documents: readonly string[];
  /** What may be wished of an image; `auto` unless more is carried. */
  imageDetails?: readonly ImageDetail[];
  /** Whether a function may ask for strict adherence to its schema. */
  strictTools: boolean;
}

const base64 = fc.uint8Array({ minLength: 1, maxLength: 24 }).map((bytes) => Buffer.from(bytes).toString('base64'));
/** Well formed, as admission makes sure, and with what line readers and JSON writers trip over. */
const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.constantFrom('', ' ', '\n', 'a\u2028b', '"}\\', '😀'),
);
const filledText = text.map((value) => `x${value}`);
const name = fc.stringMatching(/^[A-Za-z0-9_-]{1,16}$/);
const object = fc.dictionary(
  name,
  fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null), fc.array(fc.integer(), { maxLength: 3 })),
  { maxKeys: 3 },
);
const schema = object.map((properties) => ({ type: 'object', properties }));

const MEMBERS = {
  max_tokens: fc.record({ max_tokens: fc.integer({ min: 1, max: 100_000 }) }),
  max_completion_tokens: fc.record({ max_completion_tokens: fc.integer({ min: 1, max: 100_000 }) }),
  stop: fc.record({ stop: fc.oneof(filledText, fc.array(filledText, { maxLength: 4 })) }),
  temperature: fc.record({ temperature: fc.double({ min: 0, max: 1, noNaN: true }) }),
  top_p: fc.record({ top_p: fc.double({ min: 0, max: 1, noNaN: true }) }),
  seed: fc.record({ seed: fc.integer() }),
  n: fc.record({ n: fc.integer({ min: 1, max: 4 }) }),
  frequency_penalty: fc.record({ frequency_penalty: fc.double({ min: -2, max: 2, noNaN: true }) }),
  presence_penalty: fc.record({ presence_penalty: fc.double({ min: -2, max: 2, noNaN: true }) }),
  reasoning_effort: fc.record({
    reasoning_effort: fc.constantFrom<OpenAI.ReasoningEffort>('none', 'minimal', 'low', 'medium', 'high', 'xhigh'),
  }),
  user: fc.record({ user: filledText }),
  safety_identifier: fc.record({ safety_identifier: filledText }),
  parallel_tool_calls: fc.record({ parallel_tool_calls: fc.boolean() }),
  json_schema: fc.record({
    response_format: fc.record({
      type: fc.constant('json_schema' as const),
      json_schema: fc.record({ name, schema, strict: fc.constant(true) }),
    }),
  }),
  json_object: fc.record({ response_format: fc.record({ type: fc.constant('json_object' as const) }) }),
  harmless: fc.constant({
    n: 1,
    stream: false,
    store: false,
    service_tier: 'auto',
    modalities: ['text'],
    response_format: { type: 'text' },
    logprobs: null,
  } as const),
} satisfies { readonly [member: string]: fc.Arbitrary<Partial<Request>> };
export type NeutralChatMember = keyof typeof MEMBERS;

/**
 * Valid chat completion bodies that use everything a provider is said to carry: every role and kind of content, tool
 * calls answered by their tool messages, at least one user message with text. For property tests.
 */
export function neutralChatRequest(options: NeutralChatOptions): fc.Arbitrary<Request> {
  const conversation = fc
    .tuple(
      fc.array(fc.oneof(instructionMessage(), userMessage(options), assistantMessage(), toolExchange()), {
        maxLength: 6,
      }),
      filledText,
    )
    .map(([turns, last]) => [...turns.flatMap(withOwnIds), { role: 'user', content: last } as const]);
  const members = fc
    .subarray([...options.members])
    .chain((names) => fc.tuple(...names.map((member): fc.Arbitrary<Partial<Request>> => MEMBERS[member])));
  return fc.record({ messages: conversation, members, toolUse: toolUse(options) }).map(
    ({ messages, members: drawn, toolUse: tools }): Request => ({
      model: 'an-alias',
      ...Object.assign({}, ...drawn),
      ...tools,
      messages,
    }),
  );
}

/** An id names one call in the whole conversation. */
function withOwnIds(turn: readonly Message[], index: number): Message[] {
  return turn.map((message): Message => {
    if (message.role === 'tool') return { ...message, tool_call_id: `t${index}-${message.tool_call_id}` };
    if (message.role !== 'assistant' || message.tool_calls === undefined) return message;
    return { ...message, tool_calls: message.tool_calls.map((call) => ({ ...call, id: `t${index}-${call.id}` })) };
  });
}

function instructionMessage(): fc.Arbitrary<Message[]> {
  const content = fc.oneof(text, fc.array(textPart(), { minLength: 1, maxLength: 3 }));
  return fc
    .record({ role: fc.constantFrom('system' as const, 'developer' as const), content })
    .map((message) => [message]);
}

function userMessage({ documents, imageDetails = ['auto'] }: NeutralChatOptions): fc.Arbitrary<Message[]> {
  const image = fc.oneof(
    fc
      .tuple(fc.constantFrom('image/png', 'image/jpeg', 'image/webp'), base64)
      .map(([type, data]) => `data:${type};base64,${data}`),
    fc.constantFrom('https://example.com/a.png', 'http://example.com/b?c=d#e'),
  );
  const parts: fc.Arbitrary<Part>[] = [
    textPart(),
    fc.record({
      type: fc.constant('image_url' as const),
      image_url: fc.record({ url: image, detail: fc.constantFrom(...imageDetails) }, { requiredKeys: ['url'] }),
    }),
    fc.record({
      type: fc.constant('file' as const),
      file: fc.record({ file_data: fileData(documents), filename: filledText }, { requiredKeys: ['file_data'] }),
    }),
  ];
  const content = fc.oneof(text, fc.array(fc.oneof(...parts), { minLength: 1, maxLength: 4 }));
  return fc.record({ role: fc.constant('user' as const), content }).map((message) => [message]);
}

/** A bare base64 text is a PDF; text of another type is UTF-8. */
function fileData(documents: readonly string[]): fc.Arbitrary<string> {
  const ofType = documents.map((type) =>
    (type.startsWith('text/') ? text.map((value) => Buffer.from(value).toString('base64')) : base64).map(
      (data) => `data:${type};base64,${data}`,
    ),
  );
  return fc.oneof(base64, ...ofType);
}

function assistantMessage(): fc.Arbitrary<Message[]> {
  const refusalPart = fc.record({ type: fc.constant('refusal' as const), refusal: text });
  const content = fc.oneof(text, fc.array(fc.oneof(textPart(), refusalPart), { minLength: 1, maxLength: 3 }));
  return fc.oneof(
    fc.record({ role: fc.constant('assistant' as const), content }).map((message) => [message]),
    fc
      .record({ role: fc.constant('assistant' as const), content: fc.constant(null), refusal: text })
      .map((message) => [message]),
  );
}

/** An assistant message that calls functions, and one tool message for each call. */
function toolExchange(): fc.Arbitrary<Message[]> {
  const argumentsText = fc.oneof(
    object.map((value) => JSON.stringify(value, null, 1)),
    fc.constant(''),
  );
  const call = fc.record({
    id: name,
    type: fc.constant('function' as const),
    function: fc.record({ name, arguments: argumentsText }),
  });
  const answer = fc.oneof(
    text,
    object.map((value) => JSON.stringify(value)),
    fc.array(textPart(), { minLength: 1, maxLength: 2 }),
  );
  return fc
    .record({
      content: fc.oneof(fc.constant(null), text),
      calls: fc.uniqueArray(call, { minLength: 1, maxLength: 3, selector: ({ id }) => id }),
      answers: fc.array(answer, { minLength: 3, maxLength: 3 }),
    })
    .map(({ content, calls, answers }): Message[] => [
      { role: 'assistant', content, tool_calls: calls },
      ...calls.map(({ id }, index): Message => ({ role: 'tool', tool_call_id: id, content: answers[index] ?? '' })),
    ]);
}

function toolUse({ strictTools }: NeutralChatOptions): fc.Arbitrary<Pick<Request, 'tools' | 'tool_choice'>> {
  const tool = fc.record({
    type: fc.constant('function' as const),
    function: fc.record(
      { name, description: text, parameters: schema, strict: strictTools ? fc.boolean() : fc.constant(false) },
      { requiredKeys: ['name'] },
    ),
  });
  return fc
    .uniqueArray(tool, { minLength: 1, maxLength: 3, selector: (entry) => entry.function.name })
    .chain((tools) => {
      const named = tools.map(
        ({ function: { name: toolName } }) => ({ type: 'function', function: { name: toolName } }) as const,
      );
      const choice = fc.constantFrom<OpenAI.ChatCompletionToolChoiceOption>('auto', 'none', 'required', ...named);
      return fc.oneof(
        fc.constant({}),
        fc.constant({ tools }),
        choice.map((toolChoice) => ({ tools, tool_choice: toolChoice })),
      );
    });
}

function textPart(): fc.Arbitrary<OpenAI.ChatCompletionContentPartText> {
  return fc.record({ type: fc.constant('text' as const), text });
}
