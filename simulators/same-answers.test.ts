import { expect, onTestFinished, test } from 'vitest';
import { type Simulators, startSimulators } from './start.ts';

const SCHEMA = { type: 'object', properties: { city: { type: 'string' }, degrees: { type: 'integer' } } };

interface Asked {
  system?: string;
  question: string;
  wants?: 'json' | 'tool';
}
interface Said {
  text: string | undefined;
  tool: unknown;
  input: number;
  output: number;
}

async function post<Reply>(url: string, body: object): Promise<Reply> {
  const headers = {
    authorization: 'Bearer key',
    'anthropic-version': '2026-10-21',
    'content-type': 'application/json',
  };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  return (await response.json()) as Reply;
}

interface ChatReply {
  choices: [{ message: { content: string | null; tool_calls?: [{ function: { name: string; arguments: string } }] } }];
  usage: { prompt_tokens: number; completion_tokens: number };
}
interface MessageReply {
  content: [{ type: string; text?: string; name?: string; input?: unknown }];
  usage: { input_tokens: number; output_tokens: number };
}

async function askOpenAi({ openaiUrl }: Simulators, { system, question, wants }: Asked): Promise<Said> {
  const { choices, usage } = await post<ChatReply>(`${openaiUrl}/chat/completions`, {
    model: 'gpt-4o-mini',
    messages: [...(system ? [{ role: 'system', content: system }] : []), { role: 'user', content: question }],
    ...(wants === 'json' && { response_format: { type: 'json_schema', json_schema: { name: 'a', schema: SCHEMA } } }),
    ...(wants === 'tool' && {
      tools: [{ type: 'function', function: { name: 'weather', parameters: SCHEMA } }],
      tool_choice: 'required',
    }),
  });
  const { content, tool_calls: calls } = choices[0].message;
  const call = calls?.[0].function;
  const tool = call && { name: call.name, input: JSON.parse(call.arguments) };
  return { text: content ?? undefined, tool, input: usage.prompt_tokens, output: usage.completion_tokens };
}

async function askAnthropic({ anthropicUrl }: Simulators, { system, question, wants }: Asked): Promise<Said> {
  const { content, usage } = await post<MessageReply>(`${anthropicUrl}/v1/messages`, {
    model: 'claude-haiku-5-5',
    max_tokens: 1_024,
    ...(system && { system: [{ type: 'text', text: system }] }),
    messages: [{ role: 'user', content: [{ type: 'text', text: question }] }],
    ...(wants === 'json' && { output_config: { format: { type: 'json_schema', schema: SCHEMA } } }),
    ...(wants === 'tool' && { tools: [{ name: 'weather', input_schema: SCHEMA }], tool_choice: { type: 'any' } }),
  });
  const [block] = content;
  const tool = block.type === 'tool_use' ? { name: block.name, input: block.input } : undefined;
  return { text: block.text, tool, input: usage.input_tokens, output: usage.output_tokens };
}

test.for<Asked>([
  { question: 'How warm is it?' },
  { system: 'Be brief.', question: 'How warm is it?' },
  { question: 'How warm is it?[[sim:chars=90]]' },
  { question: 'How warm is it?', wants: 'json' },
  { system: 'Be brief.', question: 'How warm is it?', wants: 'tool' },
])('every simulator gives the same answer to $question as $wants', async (asked) => {
  const simulators = await startSimulators();
  onTestFinished(() => simulators.close());
  expect(await askAnthropic(simulators, asked)).toEqual(await askOpenAi(simulators, asked));
});
