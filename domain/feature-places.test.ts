import { expect, test } from 'vitest';
import type { Endpoint } from './provider.ts';
import type { Feature } from './request-features.ts';
import { findFeaturePlaces } from './request-inspection.ts';

const image = (detail: string) => ({ type: 'image_url', image_url: { url: 'https://x/a.png', detail } });
const user = (...content: object[]) => ({ role: 'user', content });
const TEXT = { type: 'text', text: 'x' };

test.each<[Endpoint, object, Feature, string[]]>([
  [
    'chat.completions',
    { messages: [user(TEXT), user(TEXT, image('high')), user(image('auto'), image('low'))] },
    'IMAGE_DETAIL',
    ['request.messages[1].content[1].image_url.detail', 'request.messages[2].content[1].image_url.detail'],
  ],
  ['chat.completions', { messages: [user(TEXT)], stream: true }, 'STREAM', ['request.stream']],
  [
    'chat.completions',
    { messages: [{ ...user(TEXT), name: 'Ann' }], verbosity: 'low', metadata: { a: 'b' } },
    'PROVIDER_SPECIFIC',
    ['request.verbosity', 'request.metadata', 'request.messages[0].name'],
  ],
  [
    'chat.completions',
    { messages: [user(TEXT)], tools: [{ type: 'function', function: { name: 'f' } }, { type: 'web_search' }] },
    'SERVER_TOOLS',
    ['request.tools[1].type'],
  ],
  [
    'chat.completions',
    { messages: [user({ type: 'file', file: { file_id: 'file-1' } })] },
    'PROVIDER_FILE',
    ['request.messages[0].content[0].file.file_id'],
  ],
  ['chat.completions', { messages: [user(TEXT)], colour: 'red' }, 'UNKNOWN_FIELD', ['request.colour']],
  ['chat.completions', { messages: [user(TEXT)], top_p: 1 }, 'SAMPLING', ['request.top_p']],
  ['responses', { input: 'x', reasoning: { effort: 'none' } }, 'REASONING_OFF', ['request.reasoning.effort']],
  [
    'messages',
    { messages: [], tools: [{ type: 'web_search_1', name: 'w' }] },
    'SERVER_TOOLS',
    ['request.tools[0].type'],
  ],
  [
    'generate_content',
    { contents: [{ parts: [{ text: 'x' }, { inlineData: { mimeType: 'audio/mp3', data: 'AAAA' } }] }] },
    'AUDIO_INPUT',
    ['request.contents[0].parts[1].inlineData'],
  ],
  ['generate_content', { contents: [], generationConfig: { topK: 4 } }, 'SAMPLING', ['request.generationConfig.topK']],
  ['embeddings', { input: [[1], 'x', [2]] }, 'TOKEN_INPUT', ['request.input[0]', 'request.input[2]']],
  ['embeddings', { input: 'x' }, 'TOKEN_INPUT', ['request.input']],
])('%s %j asks for %s at %j', (endpoint, request, feature, places) => {
  expect(findFeaturePlaces(endpoint, { ...request }, feature)).toEqual(places);
});

test('tells the first five places', () => {
  const request = { messages: [user(...Array.from({ length: 9 }, () => image('low')))] };
  expect(findFeaturePlaces('chat.completions', request, 'IMAGE_DETAIL')).toHaveLength(5);
});
