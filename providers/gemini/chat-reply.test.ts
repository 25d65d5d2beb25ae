import { type Candidate, type Content, FinishReason, type Part } from '@google/genai';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { decodeLine } from './decode.ts';
import { mapFinishReason } from './finish-reason.ts';

/** The openai SDK's `ChatCompletion`, member by member. */
const ChatCompletion = z.strictObject({
  id: z.string().min(1),
  object: z.literal('chat.completion'),
  created: z.int().nonnegative(),
  model: z.string(),
  choices: z.array(
    z.strictObject({
      index: z.int().nonnegative(),
      message: z.strictObject({
        role: z.literal('assistant'),
        content: z.string().nullable(),
        refusal: z.null(),
        tool_calls: z
          .array(
            z.strictObject({
              id: z.string().min(1),
              type: z.literal('function'),
              function: z.strictObject({ name: z.string(), arguments: z.string() }),
            }),
          )
          .min(1)
          .optional(),
      }),
      finish_reason: z.enum(['stop', 'length', 'tool_calls', 'content_filter']),
      logprobs: z.null(),
    }),
  ),
});

const text = fc.string({ unit: 'grapheme' });
const args = fc.dictionary(text, fc.jsonValue({ maxDepth: 2 }), { noNullPrototype: true });
const part: fc.Arbitrary<Part> = fc.oneof(
  fc.record({ text }),
  fc.record({ text, thoughtSignature: fc.constant('c2ln') }),
  fc.record({ text, thought: fc.constant(true) }),
  fc.record({ functionCall: fc.record({ id: text, name: text, args }, { requiredKeys: ['name'] }) }),
  fc.record({ functionCall: fc.record({ name: text, args }), thoughtSignature: fc.constant('c2ln') }),
  fc.record({ inlineData: fc.constant({ mimeType: 'image/png', data: 'AAAA' }) }),
  fc.record({ executableCode: fc.constant({ code: '1', id: 'a' }) }),
);
const content: fc.Arbitrary<Content> = fc.record({ parts: fc.array(part, { maxLength: 5 }) }, { requiredKeys: [] });
const candidate: fc.Arbitrary<Candidate> = fc.record(
  { content, finishReason: fc.constantFrom(...Object.values(FinishReason)) },
  { requiredKeys: [] },
);

test('any candidates become a chat completion that has lost no text and no call', () => {
  fc.assert(
    fc.property(fc.array(candidate, { minLength: 1, maxLength: 3 }), fc.constantFrom(0, 1), (candidates, indent) => {
      // Arrays over several lines are how the API prints them.
      const line = JSON.stringify({ key: 'att-1', response: { candidates } }, null, indent);
      const decoded = decodeLine('chat.completions', line);
      if (decoded.kind !== 'result') throw new Error(decoded.reason);
      const shown = candidates.map(({ content: { parts = [] } = {} }) => parts.filter(({ thought }) => !thought));
      if (decoded.result.kind !== 'completed') {
        expect(shown.flat().some((each) => each.text || each.functionCall)).toBe(false);
        return;
      }
      const { choices } = ChatCompletion.parse(JSON.parse(decoded.result.body));
      expect(choices).toHaveLength(candidates.length);
      for (const [index, { message }] of choices.entries()) {
        const parts = shown[index] ?? [];
        expect(message.content ?? '').toBe(parts.map((each) => each.text ?? '').join(''));
        const calls = parts.flatMap(({ functionCall }) => functionCall ?? []);
        expect(message.tool_calls ?? []).toHaveLength(calls.length);
        for (const [place, call] of (message.tool_calls ?? []).entries()) {
          expect(call.function.name).toBe(calls[place]?.name);
          expect(JSON.parse(call.function.arguments)).toEqual(JSON.parse(JSON.stringify(calls[place]?.args ?? {})));
        }
      }
    }),
    { numRuns: 200 },
  );
});

test.each([
  ['STOP', 'stop'],
  ['MAX_TOKENS', 'length'],
  ['CONTINUATION', 'length'],
  ['SAFETY', 'content_filter'],
  ['RECITATION', 'content_filter'],
  ['LANGUAGE', 'content_filter'],
  ['BLOCKLIST', 'content_filter'],
  ['PROHIBITED_CONTENT', 'content_filter'],
  ['SPII', 'content_filter'],
  ['IMAGE_SAFETY', 'content_filter'],
  ['MALFORMED_FUNCTION_CALL', null],
  ['OTHER', null],
  ['FINISH_REASON_UNSPECIFIED', null],
  ['SOMETHING_NEW', null],
  [undefined, null],
])('the finish reason %s is %s', (reason, expected) => {
  expect(mapFinishReason(reason)).toBe(expected);
});

test('calls finish as tool_calls unless the length or a filter cut the answer', () => {
  const finishOf = (finishReason: string) => {
    const candidates = [{ content: { parts: [{ functionCall: { name: 'f' } }] }, finishReason }];
    const decoded = decodeLine('chat.completions', JSON.stringify({ key: 'a', response: { candidates } }));
    if (decoded.kind !== 'result' || decoded.result.kind !== 'completed') throw new Error('not completed');
    return ChatCompletion.parse(JSON.parse(decoded.result.body)).choices[0]?.finish_reason;
  };
  expect(['STOP', 'OTHER', 'MAX_TOKENS', 'SAFETY'].map(finishOf)).toEqual([
    'tool_calls',
    'tool_calls',
    'length',
    'content_filter',
  ]);
});

test('says when the response was made where Gemini does', () => {
  const response = { candidates: [{ finishReason: 'STOP' }], createTime: '2026-11-30T09:00:00.5Z' };
  const decoded = decodeLine('chat.completions', JSON.stringify({ key: 'a', response }));
  expect(decoded).toMatchObject({ result: { body: expect.stringContaining('"created":1796029200') } });
});
