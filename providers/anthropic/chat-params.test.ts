import type { MessageCreateParamsNonStreaming } from '@anthropic-ai/sdk/resources/messages';
import fc from 'fast-check';
import type OpenAI from 'openai';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { neutralChatRequest } from '../neutral-chat-arbitrary.ts';
import { translateChatRequest } from './chat-request.ts';

/* A strict reading of the Messages body, from the @anthropic-ai/sdk types and the limits its docs name. */

const Text = z.strictObject({ type: z.literal('text'), text: z.string().min(1) });
const ImageType = z.enum(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);
const Image = z.strictObject({
  type: z.literal('image'),
  source: z.union([
    z.strictObject({ type: z.literal('url'), url: z.url() }),
    z.strictObject({ type: z.literal('base64'), media_type: ImageType, data: z.string() }),
  ]),
});
const Document = z.strictObject({
  type: z.literal('document'),
  source: z.union([
    z.strictObject({ type: z.literal('base64'), media_type: z.literal('application/pdf'), data: z.string() }),
    z.strictObject({ type: z.literal('text'), media_type: z.literal('text/plain'), data: z.string() }),
  ]),
  title: z.string().exactOptional(),
});
const ToolResult = z.strictObject({
  type: z.literal('tool_result'),
  tool_use_id: z.string().min(1),
  content: z.array(Text).min(1).exactOptional(),
});
const ToolUse = z.strictObject({
  type: z.literal('tool_use'),
  id: z.string().min(1),
  name: z.string().min(1),
  input: z.record(z.string(), z.unknown()),
});
const NoParallel = { disable_parallel_tool_use: z.literal(true).exactOptional() };
const Params = z.strictObject({
  model: z.literal('claude-x'),
  max_tokens: z.number().int().positive(),
  system: z.array(Text).min(1).exactOptional(),
  messages: z
    .array(
      z.union([
        z.strictObject({
          role: z.literal('user'),
          content: z.array(z.union([Text, Image, Document, ToolResult])).min(1),
        }),
        z.strictObject({ role: z.literal('assistant'), content: z.array(z.union([Text, ToolUse])).min(1) }),
      ]),
    )
    .min(1)
    .refine((turns) => turns.every((turn, index) => turn.role !== turns[index - 1]?.role), 'turns alternate'),
  tools: z
    .array(
      z.strictObject({
        name: z.string().min(1),
        description: z.string().exactOptional(),
        strict: z.boolean().exactOptional(),
        input_schema: z.looseObject({ type: z.literal('object') }),
      }),
    )
    .min(1)
    .exactOptional(),
  tool_choice: z
    .union([
      z.strictObject({ type: z.literal('auto'), ...NoParallel }),
      z.strictObject({ type: z.literal('any'), ...NoParallel }),
      z.strictObject({ type: z.literal('tool'), name: z.string(), ...NoParallel }),
      z.strictObject({ type: z.literal('none') }),
    ])
    .exactOptional(),
  thinking: z.strictObject({ type: z.enum(['adaptive', 'disabled']) }).exactOptional(),
  output_config: z
    .strictObject({
      effort: z.enum(['low', 'medium', 'high', 'xhigh', 'max']).exactOptional(),
      format: z
        .strictObject({ type: z.literal('json_schema'), schema: z.record(z.string(), z.unknown()) })
        .exactOptional(),
    })
    .exactOptional(),
  stop_sequences: z.array(z.string().min(1)).min(1).exactOptional(),
  metadata: z.strictObject({ user_id: z.string() }).exactOptional(),
});
const ParamsOf2023 = Params.extend({
  temperature: z.number().min(0).max(1).exactOptional(),
  top_p: z.number().min(0).max(1).exactOptional(),
});

const CARRIED = [
  ...(['max_tokens', 'stop', 'reasoning_effort', 'user', 'safety_identifier', 'json_schema', 'harmless'] as const),
  'parallel_tool_calls',
] as const;
const FILES = { documents: ['application/pdf', 'text/plain', 'text/markdown'], strictTools: true };

function translate(request: OpenAI.ChatCompletionCreateParamsNonStreaming, apiVersion: '2026-10-21' | '2023-06-01') {
  const target = { model: 'claude-x', defaultMaxOutputTokens: 700, apiVersion };
  return translateChatRequest({ ...request }, target);
}

test('every neutral request becomes a valid Messages body', () => {
  fc.assert(
    fc.property(neutralChatRequest({ members: CARRIED, ...FILES }), (request) => {
      // Typed, so that the schema is no looser than the SDK's types.
      const params: MessageCreateParamsNonStreaming = Params.parse(translate(request, '2026-10-21'));
      expect(params.model).toBe('claude-x');
    }),
    { numRuns: 300 },
  );
});

test('every neutral request with sampling becomes a valid body of 2023-06-01', () => {
  const members = [...CARRIED, 'temperature', 'top_p', 'max_completion_tokens'] as const;
  const once = members.filter((member) => member !== 'max_tokens');
  fc.assert(
    fc.property(neutralChatRequest({ members: once, ...FILES }), (request) => {
      const params = ParamsOf2023.parse(translate(request, '2023-06-01'));
      expect(params.temperature).toBe(request.temperature ?? undefined);
      expect(params.top_p).toBe(request.top_p ?? undefined);
    }),
    { numRuns: 200 },
  );
});

test('no text, call or answer of a conversation is lost', () => {
  fc.assert(
    fc.property(neutralChatRequest({ members: [], ...FILES }), (request) => {
      const params = translate(request, '2026-10-21');
      const { instructions, said, calls, answers } = summarise(request.messages);
      expect((params.system as { text: string }[] | undefined)?.map(({ text }) => text).join('') ?? '').toBe(
        instructions,
      );
      const blocks = params.messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content));
      expect(blocks.map((block) => (block.type === 'text' ? block.text : '')).join('')).toBe(said);
      expect(
        blocks.flatMap((block) => (block.type === 'tool_use' ? [[block.id, block.name, block.input]] : [])),
      ).toEqual(calls);
      expect(
        blocks.flatMap((block) => (block.type === 'tool_result' ? [[block.tool_use_id, textOf(block)]] : [])),
      ).toEqual(answers);
    }),
    { numRuns: 300 },
  );
});

/** What a conversation says, read in the simplest way there is. */
function summarise(messages: readonly OpenAI.ChatCompletionMessageParam[]) {
  let instructions = '';
  let said = '';
  const calls: unknown[] = [];
  const answers: unknown[] = [];
  for (const message of messages) {
    const text = textOf(message);
    if (message.role === 'system' || message.role === 'developer') instructions += text;
    else if (message.role === 'tool') answers.push([message.tool_call_id, text]);
    else said += text;
    if (message.role !== 'assistant') continue;
    said += message.refusal ?? '';
    for (const call of message.tool_calls ?? []) {
      if (call.type === 'function') {
        calls.push([call.id, call.function.name, JSON.parse(call.function.arguments || '{}')]);
      }
    }
  }
  return { instructions, said, calls, answers };
}

function textOf({ content }: { content?: unknown }): string {
  if (!Array.isArray(content)) return typeof content === 'string' ? content : '';
  return content.map((part: { text?: string; refusal?: string }) => part.text ?? part.refusal ?? '').join('');
}
