import { expect, test } from 'vitest';
import { answerTo } from '../answer.ts';
import { parseDirectives } from '../directives.ts';
import { readRequest } from './item.ts';
import { type ItemReply, replyTo } from './replies.ts';

const CONTEXT = { embeddingDimensions: 3, idSeed: 'seed' };
const MODEL = 'gemini-2.5-flash';

function reply(request: object, task: 'generate' | 'embed' = 'generate', model = MODEL): ItemReply {
  const read = readRequest(request, { task, model });
  return replyTo({ task, model, ...read, material: '', directives: parseDirectives(read.prompt) ?? {} }, CONTEXT);
}

const asks = (text: string, more: object = {}) => ({ contents: [{ role: 'user', parts: [{ text }] }], ...more });
const says = (text: string, finishReason = 'STOP') => ({
  candidates: [{ content: { parts: [{ text }], role: 'model' }, finishReason, index: 0 }],
});

test('reads the system instruction and the contents in order, but no results of functions and no thoughts', () => {
  const request = {
    systemInstruction: { parts: [{ text: 'one' }, { text: 'two' }] },
    contents: [
      { role: 'user', parts: [{ text: 'three' }, { inlineData: { mimeType: 'image/png', data: 'AAAA' } }] },
      { role: 'model', parts: [{ text: 'a thought', thought: true }, { text: 'four' }] },
      { role: 'user', parts: [{ functionResponse: { name: 'f', response: { result: 'hidden' } } }, { text: 'five' }] },
    ],
  };
  const { prompt } = readRequest(request, { task: 'generate', model: MODEL });
  expect(prompt).toBe('one\ntwo\nthree\nfour\nfive');
  const answer = answerTo({ prompt, material: '', directives: {}, inputTokens: 0, maxOutputTokens: 1_000 });
  expect(reply(request)).toMatchObject({ response: says(answer.text) });
});

test.for([
  {
    directives: '[[sim:usage=100,30]]',
    usage: { promptTokenCount: 100, candidatesTokenCount: 30, totalTokenCount: 130 },
  },
  {
    directives: '[[sim:usage=100,40,30]][[sim:reasoning=10]][[sim:cache_write=7]]',
    usage: {
      promptTokenCount: 100,
      cachedContentTokenCount: 40,
      candidatesTokenCount: 20,
      thoughtsTokenCount: 10,
      totalTokenCount: 130,
    },
  },
  { directives: '[[sim:usage=0,5]]', usage: { candidatesTokenCount: 5, totalTokenCount: 5 } },
  { directives: '[[sim:usage=alien]]', usage: { units_read: 12, units_written: 34 } },
])('reports the usage of $directives with thinking apart and no zeros', ({ directives, usage }) => {
  const { promptTokenCount: input } = usage as { promptTokenCount?: number };
  const details = input === undefined ? {} : { promptTokensDetails: [{ modality: 'TEXT', tokenCount: input }] };
  expect(reply(asks(`hello ${directives}`))).toMatchObject({ response: {} });
  expect(reply(asks(`hello ${directives}`))).toHaveProperty('response.usageMetadata', { ...usage, ...details });
});

test('leaves usage out when told to', () => {
  expect(reply(asks('[[sim:usage=none]]'))).not.toHaveProperty('response.usageMetadata');
});

test('blocks a prompt without a candidate, and an answer without content', () => {
  const blocked = reply(asks('[[sim:safety]]'));
  expect(blocked).toMatchObject({ response: { promptFeedback: { blockReason: 'SAFETY' }, modelVersion: MODEL } });
  expect(blocked).not.toHaveProperty('response.candidates');
  expect(blocked).not.toHaveProperty('response.usageMetadata.candidatesTokenCount');
  const filtered = reply(asks('[[sim:safety]][[sim:text=something]]'));
  expect(filtered).toHaveProperty('response.candidates', [{ finishReason: 'SAFETY', index: 0 }]);
  expect(filtered).not.toHaveProperty('response.promptFeedback');
});

test('stops at the most tokens, with text or, when thinking took them all, without', () => {
  const cut = reply(asks('[[sim:text=abcdefghij]]', { generationConfig: { maxOutputTokens: 2 } }));
  expect(cut).toMatchObject({ response: says('abcdefgh', 'MAX_TOKENS') });
  const silent = reply(
    asks('[[sim:text=abcdefghij]][[sim:reasoning=9]]', { generationConfig: { maxOutputTokens: 9 } }),
  );
  expect(silent).toMatchObject({
    response: {
      candidates: [{ content: { role: 'model' }, finishReason: 'MAX_TOKENS', index: 0 }],
      usageMetadata: { thoughtsTokenCount: 9 },
    },
  });
  expect(silent).not.toHaveProperty('response.candidates.0.content.parts');
  expect(silent).not.toHaveProperty('response.usageMetadata.candidatesTokenCount');
});

test('answers as many candidates as are asked for', () => {
  const { response } = reply(asks('x', { generationConfig: { candidateCount: 3 } })) as { response: object };
  expect(response).toHaveProperty('candidates.length', 3);
});

const weather = { name: 'weather', parametersJsonSchema: { type: 'object', properties: { city: { type: 'string' } } } };
const time = {
  name: 'time',
  parameters: { type: 'OBJECT', properties: { zones: { type: 'ARRAY', minItems: '2', items: { type: 'INTEGER' } } } },
};

test.for([
  { what: 'must', calling: { mode: 'ANY' }, called: 'weather' },
  { what: 'must call this one', calling: { mode: 'ANY', allowedFunctionNames: ['time'] }, called: 'time' },
  { what: 'may', calling: { mode: 'AUTO' }, called: undefined },
  { what: 'may not', calling: { mode: 'NONE' }, called: undefined },
])('calls a function when it $what', ({ calling, called }) => {
  const tools = [{ functionDeclarations: [weather, time] }];
  const result = reply(asks('x', { tools, toolConfig: { functionCallingConfig: calling } }));
  expect(result).toMatchObject({
    response: {
      candidates: [
        {
          finishReason: 'STOP',
          content: {
            parts: [called === undefined ? { text: expect.any(String) } : { functionCall: { name: called } }],
          },
        },
      ],
    },
  });
});

test('calls a function where the prompt asks for it, with arguments that fit either kind of schema', () => {
  const called = (declaration: object) =>
    reply(asks('[[sim:tool]]', { tools: [{ functionDeclarations: [declaration] }] }));
  const path = 'response.candidates.0.content.parts.0.functionCall.args';
  expect(called(weather)).toHaveProperty(path, { city: expect.any(String) });
  expect(called(time)).toHaveProperty(path, { zones: [expect.any(Number), expect.any(Number)] });
});

test.for([
  { config: { responseMimeType: 'application/json' }, json: { answer: expect.any(String) } },
  {
    config: {
      responseMimeType: 'application/json',
      responseJsonSchema: { type: 'object', properties: { n: { type: 'integer' } } },
    },
    json: { n: expect.any(Number) },
  },
  {
    config: {
      responseMimeType: 'application/json',
      responseSchema: { type: 'OBJECT', properties: { ok: { anyOf: [{ type: 'BOOLEAN' }] } } },
    },
    json: { ok: expect.any(Boolean) },
  },
])('answers JSON that fits $config', ({ config, json }) => {
  const { response } = reply(asks('x', { generationConfig: config })) as { response: ReturnType<typeof says> };
  expect(JSON.parse(response.candidates[0]?.content.parts[0]?.text ?? '')).toEqual(json);
});

test('embeds the same text as the same vector of length one, its tokens where the model puts them', () => {
  const content = { parts: [{ text: 'hello' }] };
  const older = reply({ content }, 'embed', 'gemini-embedding-001');
  const newer = reply({ content, outputDimensionality: 3 }, 'embed', 'gemini-embedding-2');
  expect(older).toHaveProperty('response.tokenCount', '2');
  expect(newer).toHaveProperty('response.usageMetadata', { promptTokenCount: 2 });
  const [first, second] = [older, newer].map(
    (each) => (each as { response: { embedding: { values: number[] } } }).response,
  );
  expect(first?.embedding).toEqual(second?.embedding);
  expect(Math.hypot(...(first?.embedding.values ?? []))).toBeCloseTo(1);
});
