import type { Message } from '@anthropic-ai/sdk/resources/messages';
import fc from 'fast-check';
import type OpenAI from 'openai';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { toChatCompletion } from './chat-reply.ts';
import { decodeLine } from './decode.ts';

const usage = { inputTokens: 30, cachedInputTokens: 4, cacheWriteTokens: 3, outputTokens: 9, reasoningTokens: 5 };

function translate(content: unknown[], stopReason: unknown) {
  const message = { id: 'msg_1', model: 'claude-x', content, stop_reason: stopReason };
  return toChatCompletion(message, JSON.stringify(content), usage);
}

function choiceOf(content: unknown[], stopReason: unknown) {
  return translate(content, stopReason)?.choices[0];
}

const text = (value: string) => ({ type: 'text', text: value });
const call = (id: string, input: unknown = {}) => ({ type: 'tool_use', id, name: 'f', input });

test('gives a completion in the shape of OpenAI', () => {
  expect(translate([{ type: 'thinking', thinking: 'hm' }, text('a'), text('b')], 'end_turn')).toEqual({
    id: 'msg_1',
    object: 'chat.completion',
    created: 0,
    model: 'claude-x',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: 'ab', refusal: null },
        finish_reason: 'stop',
        logprobs: null,
      },
    ],
    usage: {
      prompt_tokens: 30,
      completion_tokens: 9,
      total_tokens: 39,
      prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 3 },
      completion_tokens_details: { reasoning_tokens: 5 },
    },
  });
});

test.each([
  ['end_turn', [text('a')], 'stop', 'a'],
  ['end_turn', [], 'stop', ''],
  ['end_turn', [call('c')], 'tool_calls', null],
  ['stop_sequence', [text('a')], 'stop', 'a'],
  ['max_tokens', [text('a')], 'length', 'a'],
  ['max_tokens', [{ type: 'thinking', thinking: 'hm' }], 'length', ''],
  ['max_tokens', [call('c')], 'length', null],
  ['model_context_window_exceeded', [text('a')], 'length', 'a'],
  ['tool_use', [text('a'), call('c')], 'tool_calls', 'a'],
  ['tool_use', [text('a')], 'stop', 'a'],
  ['pause_turn', [text('a')], 'stop', 'a'],
  ['a_new_reason', [text('a')], 'stop', 'a'],
  [null, [text('a')], 'stop', 'a'],
])('%s with %j finishes as %s with content %j', (stopReason, content, finishReason, answer) => {
  expect(choiceOf(content, stopReason)).toMatchObject({ finish_reason: finishReason, message: { content: answer } });
});

test.each(['tool_use', 'pause_turn', 'a_new_reason', null, 'refusal'])(
  '%s with nothing to show is no answer',
  (reason) => {
    expect(translate([{ type: 'thinking', thinking: 'hm' }], reason)).toBeNull();
  },
);

test('a refusal in words is the refusal of the message', () => {
  expect(choiceOf([text('I will not.'), call('c')], 'refusal')).toMatchObject({
    finish_reason: 'content_filter',
    message: { content: null, refusal: 'I will not.', tool_calls: [{ id: 'c' }] },
  });
  expect(choiceOf([call('c')], 'refusal')?.message).toMatchObject({ content: null, refusal: null });
});

test('keeps the arguments of a tool call as the model wrote them', () => {
  const input = '{"n" : 12345678901234567890, "f":1.50}';
  const contentJson = `[{"type":"thinking","input":{"x":1}},{"type":"tool_use","id":"c","name":"f","input":${input}}]`;
  const message = { content: JSON.parse(contentJson), stop_reason: 'tool_use' };
  expect(toChatCompletion(message, contentJson, null)?.choices[0]?.message.tool_calls).toEqual([
    { id: 'c', type: 'function', function: { name: 'f', arguments: input } },
  ]);
});

test.each([null, {}, { inputTokens: 'many', outputTokens: 1 }, { inputTokens: 3 }])(
  'shows no guess for usage %j',
  (raw) => {
    const message = { content: [text('a')], stop_reason: 'end_turn' };
    expect(toChatCompletion(message, '[{}]', raw)).not.toHaveProperty('usage');
  },
);

/** `ChatCompletion` of the openai SDK: the assignment below fails to compile where the two differ. */
const Completion = z.strictObject({
  id: z.string(),
  object: z.literal('chat.completion'),
  created: z.number().int(),
  model: z.string(),
  choices: z
    .array(
      z.strictObject({
        index: z.number().int(),
        message: z.strictObject({
          role: z.literal('assistant'),
          content: z.string().nullable(),
          refusal: z.string().nullable(),
          tool_calls: z
            .array(
              z.strictObject({
                id: z.string(),
                type: z.literal('function'),
                function: z.strictObject({ name: z.string(), arguments: z.string() }),
              }),
            )
            .exactOptional(),
        }),
        finish_reason: z.enum(['stop', 'length', 'tool_calls', 'content_filter']),
        logprobs: z.null(),
      }),
    )
    .length(1),
  usage: z
    .strictObject({
      prompt_tokens: z.number().int(),
      completion_tokens: z.number().int(),
      total_tokens: z.number().int(),
      prompt_tokens_details: z.strictObject({ cached_tokens: z.number(), cache_write_tokens: z.number() }),
      completion_tokens_details: z.strictObject({ reasoning_tokens: z.number() }),
    })
    .exactOptional(),
});

test('every message is a completion that loses no text and no tool call', () => {
  const block = fc.oneof(
    fc.record({
      type: fc.constant('text' as const),
      text: fc.string({ unit: 'binary' }),
      citations: fc.constant(null),
    }),
    fc.record({ type: fc.constant('thinking' as const), thinking: fc.string(), signature: fc.string() }),
    fc.record({ type: fc.constant('redacted_thinking' as const), data: fc.string() }),
    fc.record({
      type: fc.constant('tool_use' as const),
      id: fc.string({ minLength: 1 }),
      name: fc.string({ minLength: 1 }),
      input: fc.dictionary(fc.string(), fc.jsonValue()),
      caller: fc.constant({ type: 'direct' as const }),
    }),
  );
  const stopReason = fc.constantFrom<Message['stop_reason']>(
    ...(['end_turn', 'max_tokens', 'stop_sequence', 'tool_use', 'pause_turn', 'refusal'] as const),
    'model_context_window_exceeded',
  );
  fc.assert(
    fc.property(fc.array(block), stopReason, (content, reason) => {
      const message = {
        id: 'msg_1',
        model: 'm',
        content,
        stop_reason: reason,
        usage: { input_tokens: 1, output_tokens: 2 },
      };
      const line = JSON.stringify({ custom_id: 'x', result: { type: 'succeeded', message } });
      const decoded = decodeLine('chat.completions', line);
      const texts = content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
      const calls = content.flatMap((part) => (part.type === 'tool_use' ? [part] : []));
      if (decoded.kind !== 'result' || decoded.result.kind !== 'completed') {
        expect([texts, calls]).toEqual(['', []]);
        return;
      }
      const completion: OpenAI.ChatCompletion = Completion.parse(JSON.parse(decoded.result.body));
      const answer = completion.choices[0]?.message;
      expect(`${answer?.content ?? ''}${answer?.refusal ?? ''}`).toBe(texts);
      const called = (answer?.tool_calls ?? []).map((toolCall) =>
        toolCall.type === 'function'
          ? [toolCall.id, toolCall.function.name, JSON.parse(toolCall.function.arguments)]
          : [],
      );
      expect(called).toEqual(calls.map(({ id, name, input }) => [id, name, JSON.parse(JSON.stringify(input))]));
    }),
    { numRuns: 500 },
  );
});
