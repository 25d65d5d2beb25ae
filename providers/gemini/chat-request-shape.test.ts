import { FunctionCallingConfigMode, PartMediaResolutionLevel, ThinkingLevel } from '@google/genai';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { neutralChatRequest } from '../neutral-chat-arbitrary.ts';
import { type GenerateContentRequest, toGenerateContent } from './chat-request.ts';

/*
 * The REST body after the types of @google/genai (`Content`, `Part`, `Tool`, `ToolConfig`, `GenerationConfig`): nothing
 * but members that exist, each of its type, exactly one kind of data in a part.
 */

const JsonMap = z.record(z.string(), z.unknown());
const Base64 = z.string().regex(/^[A-Za-z0-9+/]*={0,2}$/);
const Blob = z.strictObject({ mimeType: z.string().regex(/^[\w.+-]+\/[\w.+-]+$/), data: Base64 });
const FileData = z.strictObject({ mimeType: z.string().regex(/^image\//), fileUri: z.url() });
const mediaResolution = z.strictObject({ level: z.enum(PartMediaResolutionLevel) }).optional();
const TextPart = z.strictObject({ text: z.string().min(1) });
const UserPart = z.union([
  TextPart,
  z.strictObject({ inlineData: Blob, mediaResolution }),
  z.strictObject({ fileData: FileData, mediaResolution }),
  z.strictObject({ functionResponse: z.strictObject({ id: z.string(), name: z.string().min(1), response: JsonMap }) }),
]);
const ModelPart = z.union([
  TextPart,
  z.strictObject({
    functionCall: z.strictObject({ id: z.string(), name: z.string().min(1), args: JsonMap }),
    thoughtSignature: z.string().optional(),
  }),
]);
const Turn = z.discriminatedUnion('role', [
  z.strictObject({ role: z.literal('user'), parts: z.array(UserPart).min(1) }),
  z.strictObject({ role: z.literal('model'), parts: z.array(ModelPart).min(1) }),
]);
const Declaration = z.strictObject({
  name: z.string().min(1),
  description: z.string().optional(),
  parametersJsonSchema: JsonMap.optional(),
});
const Body = z.strictObject({
  contents: z.array(Turn).min(1),
  systemInstruction: z.strictObject({ parts: z.array(TextPart).min(1) }).optional(),
  tools: z.tuple([z.strictObject({ functionDeclarations: z.array(Declaration).min(1) })]).optional(),
  toolConfig: z
    .strictObject({
      functionCallingConfig: z.strictObject({
        mode: z.enum(FunctionCallingConfigMode),
        allowedFunctionNames: z.array(z.string()).length(1).optional(),
      }),
    })
    .optional(),
  generationConfig: z
    .strictObject({
      temperature: z.number().optional(),
      topP: z.number().optional(),
      frequencyPenalty: z.number().optional(),
      presencePenalty: z.number().optional(),
      seed: z.int().optional(),
      maxOutputTokens: z.int().positive().optional(),
      candidateCount: z.int().min(2).optional(),
      stopSequences: z.array(z.string().min(1)).min(1).optional(),
      responseMimeType: z.literal('application/json').optional(),
      responseJsonSchema: JsonMap.optional(),
      thinkingConfig: z
        .union([
          z.strictObject({ thinkingBudget: z.literal(0) }),
          z.strictObject({ thinkingLevel: z.enum(ThinkingLevel) }),
        ])
        .optional(),
    })
    .optional(),
});

const requests = neutralChatRequest({
  members: [
    'max_tokens',
    'max_completion_tokens',
    'stop',
    'temperature',
    'top_p',
    'seed',
    'n',
    'frequency_penalty',
    'presence_penalty',
    'reasoning_effort',
    'json_schema',
    'json_object',
    'harmless',
  ],
  documents: ['application/pdf', 'text/plain', 'text/csv', 'image/png'],
  imageDetails: ['auto', 'low', 'high'],
  strictTools: false,
});

test('every neutral request that Gemini is said to carry becomes a body of its types', () => {
  fc.assert(
    fc.property(requests, fc.constantFrom('gemini-2.5-flash', 'gemini-4-neon'), (request, model) => {
      const body: GenerateContentRequest = toGenerateContent({ ...request }, { model });
      Body.parse(body);
      const roles = body.contents.map(({ role }) => role);
      expect(roles.some((role, index) => role === roles[index - 1])).toBe(false);
    }),
    { numRuns: 200 },
  );
});

test('no text and no call of a conversation is lost, and their order stays', () => {
  fc.assert(
    fc.property(requests, (request) => {
      const { contents, systemInstruction } = toGenerateContent({ ...request }, { model: 'gemini-2.5-flash' });
      const sent = contents.flatMap(({ parts = [] }) => parts);
      const said = request.messages.filter(({ role }) => role !== 'system' && role !== 'developer');
      const told = request.messages.filter(({ role }) => role === 'system' || role === 'developer');
      const spoken = said.filter(({ role }) => role !== 'tool');
      expect(sent.map(({ text = '' }) => text).join('')).toBe(spoken.map(textOf).join(''));
      expect((systemInstruction?.parts ?? []).map(({ text }) => text).join('')).toBe(told.map(textOf).join(''));
      const calls = said.flatMap((message) => ('tool_calls' in message ? (message.tool_calls ?? []) : []));
      expect(sent.flatMap(({ functionCall }) => functionCall?.id ?? [])).toEqual(calls.map(({ id }) => id));
      const answers = said.flatMap((message) => (message.role === 'tool' ? [message.tool_call_id] : []));
      expect(sent.flatMap(({ functionResponse }) => functionResponse?.id ?? [])).toEqual(answers);
    }),
    { numRuns: 200 },
  );
});

function textOf(message: object): string {
  const content = 'content' in message ? message.content : null;
  const refusal = 'refusal' in message && typeof message.refusal === 'string' ? message.refusal : '';
  if (typeof content === 'string') return content + refusal;
  const parts: { text?: string; refusal?: string }[] = Array.isArray(content) ? content : [];
  return parts.map((part) => part.text ?? part.refusal ?? '').join('') + refusal;
}
