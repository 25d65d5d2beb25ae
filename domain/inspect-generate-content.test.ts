import { expect, test } from 'vitest';
import { FEATURE, type Feature, hasFeature } from './request-features.ts';
import { inspectRequest } from './request-inspection.ts';

const inspect = (request: unknown) => inspectRequest('generate_content', request);
const featuresOf = (features: number) =>
  (Object.keys(FEATURE) as Feature[]).filter((name) => hasFeature(features, name));
const ask = (members: object) => ({ contents: [{ role: 'user', parts: [{ text: 'Hello' }] }], ...members });
const configured = (generationConfig: unknown) => ask({ generationConfig });
const part = (members: object) => ({ contents: [{ parts: [members] }] });

test.each<[object, Feature[]]>([
  [ask({}), []],
  [ask({ systemInstruction: { parts: [{ text: 'Be brief.' }] } }), []],
  [configured({ temperature: 0, topP: 1, maxOutputTokens: 9 }), ['SAMPLING']],
  [ask({ generation_config: { top_k: 5, seed: 1 } }), ['SAMPLING', 'SEED']],
  [configured({ candidateCount: 2, stopSequences: ['x'] }), ['MULTIPLE_CHOICES']],
  [configured({ responseMimeType: 'application/json', responseSchema: {} }), ['STRUCTURED_OUTPUT']],
  [configured({ responseJsonSchema: true }), ['STRUCTURED_OUTPUT']],
  [configured({ response_mime_type: 'application/json' }), ['JSON_MODE']],
  [configured({ responseMimeType: 'text/x.enum' }), ['STRUCTURED_OUTPUT']],
  [ask({ serviceTier: 'priority' }), ['SERVICE_TIER']],
  [configured({ presencePenalty: 1 }), ['WIDE_SAMPLING']],
  [configured({ responseMimeType: 'text/plain' }), []],
  [configured({ thinkingConfig: { thinkingBudget: 0 } }), ['REASONING_OFF']],
  [configured({ thinkingConfig: { thinkingLevel: 'high' } }), ['REASONING']],
  [configured({ responseModalities: ['TEXT', 'IMAGE'] }), ['MEDIA_OUTPUT']],
  [configured({ brandNew: 1 }), ['UNKNOWN_FIELD']],
  [ask({ tools: [{ functionDeclarations: [{ name: 'f' }] }] }), ['TOOLS']],
  [ask({ tools: [{ googleSearch: {} }] }), ['TOOLS', 'SERVER_TOOLS']],
  [ask({ toolConfig: { functionCallingConfig: { mode: 'ANY' } } }), ['FORCED_TOOL']],
  [ask({ tool_config: { function_calling_config: { mode: 'AUTO' } } }), []],
  [ask({ cachedContent: 'cachedContents/x' }), ['PROVIDER_STATE']],
  [part({ inlineData: { mimeType: 'image/png', data: 'AAAA' } }), ['IMAGE_INPUT']],
  [part({ inline_data: { mime_type: 'audio/mp3', data: 'AAAA' } }), ['AUDIO_INPUT']],
  [part({ fileData: { mimeType: 'video/mp4', fileUri: 'x' } }), ['VIDEO_INPUT', 'PROVIDER_FILE']],
  [part({ file_data: { file_uri: 'x' } }), ['DOCUMENT_INPUT', 'PROVIDER_FILE']],
  [part({ functionResponse: { name: 'f', response: {} } }), []],
])('%j asks for %j', (request, features) => {
  const inspection = inspect(request);
  expect(inspection.problems).toEqual([]);
  expect(featuresOf(inspection.features)).toEqual(features);
  expect(inspection.inputTokens).toBeGreaterThan(0);
});

test.each<[object, string]>([
  [{}, 'request.contents'],
  [{ contents: 'Hello' }, 'request.contents'],
  [{ contents: ['Hello'] }, 'request.contents[0]'],
  [{ contents: [{ parts: [] }] }, 'request.contents[0].parts'],
  [{ contents: [{ role: 7, parts: [{ text: 'x' }] }] }, 'request.contents[0].role'],
  [part({ text: 7 }), 'request.contents[0].parts[0].text'],
  [{ contents: [{ parts: ['x'] }] }, 'request.contents[0].parts[0]'],
  [part({ inlineData: { mimeType: 'image/png' } }), 'request.contents[0].parts[0].inlineData.data'],
  [part({ inlineData: { data: 'AAAA' } }), 'request.contents[0].parts[0].inlineData.mimeType'],
  [ask({ systemInstruction: 'x' }), 'request.systemInstruction'],
  [configured('x'), 'request.generationConfig'],
  [configured({ temperature: 'hot' }), 'request.generationConfig.temperature'],
  [configured({ maxOutputTokens: 0 }), 'request.generationConfig.maxOutputTokens'],
  [configured({ responseMimeType: 7 }), 'request.generationConfig.responseMimeType'],
  [configured({ thinkingConfig: 1 }), 'request.generationConfig.thinkingConfig'],
  [configured({ responseModalities: 'IMAGE' }), 'request.generationConfig.responseModalities'],
  [ask({ toolConfig: 'ANY' }), 'request.toolConfig'],
])('%j is at fault in %s', (request, field) => {
  expect(inspect(request).problems.map((problem) => problem.field)).toEqual([field]);
});

test('counts schemas, tools, calls and media', () => {
  const plain = inspect(ask({})).inputTokens;
  for (const larger of [
    configured({ responseSchema: { type: 'OBJECT', properties: { colour: { type: 'STRING' } } } }),
    ask({ tools: [{ functionDeclarations: [{ name: 'paint', description: 'paints the car' }] }] }),
    part({ functionCall: { name: 'paint', args: { colour: 'red', shade: 'dark red' } } }),
    part({ inlineData: { mimeType: 'application/pdf', data: 'A'.repeat(1_400_000) } }),
  ]) {
    expect(inspect(larger).inputTokens).toBeGreaterThan(plain + 4);
  }
});

test('what a cache holds is counted, though it cannot be seen', () => {
  const plain = inspect(ask({})).inputTokens;
  expect(inspect(ask({ cachedContent: 'cachedContents/x' })).inputTokens).toBe(plain + 4_000);
  expect(inspect(ask({ cached_content: 'cachedContents/x' })).inputTokens).toBe(plain + 4_000);
});
