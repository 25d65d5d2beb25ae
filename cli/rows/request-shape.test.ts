import { expect, test } from 'vitest';
import { sharedRequest } from './request-shape.ts';

test.each([
  ['chat.completions', { messages: [{ role: 'system', content: 'S' }], max_completion_tokens: 9 }],
  ['responses', { instructions: 'S', max_output_tokens: 9 }],
  ['messages', { system: 'S', max_tokens: 9 }],
  ['generate_content', { systemInstruction: { parts: [{ text: 'S' }] }, generationConfig: { maxOutputTokens: 9 } }],
] as const)('says a system prompt and a limit once for all requests of %s', (endpoint, shared) => {
  expect(sharedRequest(endpoint, { system: 'S', maxTokens: 9 })).toEqual(shared);
});

test('is nothing where nothing is shared', () => {
  expect(sharedRequest('embeddings', { system: undefined, maxTokens: undefined })).toBeUndefined();
});

test('refuses what an endpoint does not know', () => {
  expect(() => sharedRequest('embeddings', { system: 'S', maxTokens: undefined })).toThrow(
    'embeddings takes no --system',
  );
  expect(() => sharedRequest('moderations', { system: undefined, maxTokens: 1 })).toThrow(
    'moderations takes no --max-tokens',
  );
});
