/** One line of a manifest of neutral chat requests. */
export interface NeutralItem {
  readonly custom_id: string;
  readonly request: Readonly<Record<string, unknown>>;
}

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const TEXTS = [
  'Summarise the minutes of the meeting in two sentences.',
  '请把这段合同条款翻译成英文，并指出其中的风险。',
  '東京の天気を要約してください。🌤️ 明日は雨ですか？',
  'Réécris ce courriel poliment : « Où est ma commande ? » 📦📦',
  'نص عربي قصير مع أرقام ١٢٣ و emoji 👩🏽‍🚀',
  'Line one\nline two\r\nline three\u2028line four\u2029line five\ttabbed "quoted" \\ back',
  '𝒜𝓁𝓁 𝓈𝓊𝓇𝓇𝑜𝑔𝒶𝓉𝑒𝓈 𠜎𠜱𠝹 and a flag 🇵🇱',
];

const INVOICE_SCHEMA = {
  type: 'object',
  properties: {
    vendor: { type: 'string' },
    total: { type: 'number' },
    currency: { type: 'string', enum: ['EUR', 'USD', 'PLN'] },
    lines: {
      type: 'array',
      items: {
        type: 'object',
        properties: { text: { type: 'string' }, quantity: { type: 'integer' } },
        required: ['text', 'quantity'],
        additionalProperties: false,
      },
    },
  },
  required: ['vendor', 'total', 'currency', 'lines'],
  additionalProperties: false,
};

const LOOK_UP = {
  type: 'function',
  function: {
    name: 'look_up_order',
    description: 'Finds an order by its number.',
    parameters: {
      type: 'object',
      properties: { order_number: { type: 'string' }, with_history: { type: 'boolean' } },
      required: ['order_number'],
    },
  },
};
const ESCALATE = {
  type: 'function',
  function: { name: 'escalate', parameters: { type: 'object', properties: { reason: { type: 'string' } } } },
};

/** About 60 kB of text: long enough that no part of the way treats it as small. */
const LONG_CONTEXT = 'The quarterly report states, in its own careful words, that the outlook is stable. '.repeat(750);

type Request = NeutralItem['request'];
type Kind = (text: string, number: number) => Request;

/** Only what every provider can be asked: each kind is carried by all three. */
const KINDS: readonly Kind[] = [
  (text) => ({ messages: [{ role: 'user', content: text }], max_completion_tokens: 400 }),
  (text) => ({
    messages: [
      { role: 'system', content: 'You are terse.' },
      { role: 'developer', content: 'Answer in the language of the question.' },
      { role: 'user', content: [{ type: 'text', text }] },
    ],
    max_tokens: 300,
    stop: ['END'],
  }),
  (text) => ({
    messages: [
      { role: 'user', content: 'Where is my order?' },
      { role: 'assistant', content: 'Which one?' },
      { role: 'user', content: text },
    ],
    reasoning_effort: 'low',
  }),
  (text, number) => ({
    messages: [{ role: 'user', content: `${text} (order ${number})` }],
    tools: [LOOK_UP, ESCALATE],
    tool_choice: { type: 'function', function: { name: 'look_up_order' } },
  }),
  (text) => ({ messages: [{ role: 'user', content: text }], tools: [ESCALATE], tool_choice: 'required' }),
  (text, number) => ({
    messages: [
      { role: 'user', content: text },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: `call_${number}`, type: 'function', function: { name: 'escalate', arguments: '{"reason":"angry"}' } },
        ],
      },
      { role: 'tool', tool_call_id: `call_${number}`, content: '{"ticket": 7}' },
      { role: 'user', content: 'And now?' },
    ],
    tools: [ESCALATE],
    tool_choice: 'auto',
  }),
  (text) => ({
    messages: [{ role: 'user', content: text }],
    response_format: { type: 'json_schema', json_schema: { name: 'invoice', schema: INVOICE_SCHEMA, strict: true } },
  }),
  (text) => ({
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } },
        ],
      },
    ],
  }),
  (text, number) => ({
    messages: [
      {
        role: 'user',
        content: [
          { type: 'image_url', image_url: { url: `https://images.example/${number}.jpg`, detail: 'auto' } },
          { type: 'text', text },
        ],
      },
    ],
    max_completion_tokens: 200,
  }),
];

/** Ids as callers write them: dotted, spaced, accented, long, and of other scripts. */
function customId(number: number): string {
  switch (number % 5) {
    case 0:
      return `tenantA.invoice_extraction.2026-08-19.row_${String(number).padStart(6, '0')}`;
    case 1:
      return `Zażółć gęślą jaźń – déjà vu ${number}`;
    case 2:
      return `${'x'.repeat(300 - String(number).length)}${number}`;
    case 3:
      return `発注/${number}?a=1&b=%2e%2e#part`;
    default:
      return `row_${number}`;
  }
}

/** The same items each time: every kind of request in every kind of text, one in a hundred with a long context. */
export function neutralItems(count: number): NeutralItem[] {
  return Array.from({ length: count }, (_, index) => {
    const number = index + 1;
    const kind = KINDS[index % KINDS.length] ?? fail();
    const text = TEXTS[Math.floor(index / KINDS.length) % TEXTS.length] ?? fail();
    const context = number % 100 === 0 ? `\n\n${LONG_CONTEXT}` : '';
    return { custom_id: customId(number), request: kind(`${text} #${number}${context}`, number) };
  });
}

function fail(): never {
  throw new Error('an index out of its list');
}

interface ChatMessage {
  readonly content: string | null;
  readonly tool_calls?: readonly { readonly function: { readonly name: string; readonly arguments: string } }[];
}

/** What an answer says, without what rightly differs between providers: ids, times, models and counts. */
export function answerOf(result: unknown): unknown {
  const { choices } = result as { choices: readonly { message: ChatMessage; finish_reason: string }[] };
  return choices.map(({ message, finish_reason }) => ({
    text: message.content,
    calls: (message.tool_calls ?? []).map((call) => ({
      name: call.function.name,
      arguments: JSON.parse(call.function.arguments),
    })),
    finish_reason,
  }));
}
