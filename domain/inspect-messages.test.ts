import { expect, test } from 'vitest';
import { FEATURE, type Feature, hasFeature } from './request-features.ts';
import { inspectRequest } from './request-inspection.ts';

const inspect = (request: unknown) => inspectRequest('messages', request);
const featuresOf = (features: number) =>
  (Object.keys(FEATURE) as Feature[]).filter((name) => hasFeature(features, name));
const ask = (members: object) => ({ max_tokens: 9, messages: [{ role: 'user', content: 'Hello' }], ...members });
const block = (members: object) => ask({ messages: [{ role: 'user', content: [members] }] });
const source = (type: string, members: object) => block({ type: 'document', source: { type, ...members } });

test.each<[object, Feature[]]>([
  [ask({}), []],
  [ask({ system: 'Be brief.' }), []],
  [ask({ system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }] }), []],
  [ask({ model: 'claude-opus-5', stream: true }), ['STREAM']],
  [ask({ top_k: 5 }), ['SAMPLING']],
  [ask({ stop_sequences: ['x'] }), []],
  [ask({ stop_sequences: [] }), []],
  [ask({ thinking: { type: 'enabled', budget_tokens: 1_024 } }), ['REASONING']],
  [ask({ thinking: { type: 'disabled' } }), ['REASONING_OFF']],
  [ask({ tools: [{ name: 'f', input_schema: {} }], tool_choice: { type: 'auto' } }), ['TOOLS']],
  [ask({ tools: [{ name: 'f', input_schema: {} }], tool_choice: { type: 'any' } }), ['TOOLS', 'FORCED_TOOL']],
  [ask({ tools: [{ type: 'web_search_20250305', name: 'web_search' }] }), ['TOOLS', 'SERVER_TOOLS']],
  [ask({ output_config: { format: { type: 'json_schema', schema: {} } } }), ['STRUCTURED_OUTPUT']],
  [ask({ output_config: { effort: 'low' } }), []],
  [ask({ speed: 'fast' }), ['SERVICE_TIER']],
  [ask({ inference_geo: 'us' }), ['SERVICE_TIER']],
  [ask({ inference_geo: 'global' }), []],
  [ask({ store: true }), ['PROVIDER_STATE']],
  [ask({ mcp_servers: [{ url: 'https://x' }] }), ['SERVER_TOOLS']],
  [block({ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } }), ['IMAGE_INPUT']],
  [block({ type: 'image', source: { type: 'url', url: 'https://x' } }), ['IMAGE_INPUT', 'REMOTE_MEDIA']],
  [source('file', { file_id: 'x' }), ['DOCUMENT_INPUT', 'PROVIDER_FILE']],
  [source('text', { data: 'plain' }), []],
  [source('content', { content: [{ type: 'text', text: 'x' }] }), []],
  [block({ type: 'tool_result', tool_use_id: 't' }), []],
  [block({ type: 'tool_result', tool_use_id: 't', content: [{ type: 'text', text: 'x' }] }), []],
  [block({ type: 'thinking', thinking: 'hm', signature: 's' }), []],
])('%j asks for %j', (request, features) => {
  const inspection = inspect(request);
  expect(inspection.problems).toEqual([]);
  expect(featuresOf(inspection.features)).toEqual(features);
  expect(inspection.inputTokens).toBeGreaterThan(0);
});

test.each<[object, string]>([
  [{ messages: [{ role: 'user', content: 'x' }] }, 'request.max_tokens'],
  [ask({ max_tokens: 0 }), 'request.max_tokens'],
  [ask({ messages: [] }), 'request.messages'],
  [ask({ messages: ['x'] }), 'request.messages[0]'],
  [ask({ messages: [{ role: 'tool', content: 'x' }] }), 'request.messages[0].role'],
  [ask({ messages: [{ role: 'user' }] }), 'request.messages[0].content'],
  [ask({ messages: [{ role: 'user', content: ['x'] }] }), 'request.messages[0].content[0]'],
  [block({}), 'request.messages[0].content[0].type'],
  [block({ type: 'text' }), 'request.messages[0].content[0].text'],
  [block({ type: 'image' }), 'request.messages[0].content[0].source.type'],
  [source('base64', {}), 'request.messages[0].content[0].source.data'],
  [block({ type: 'tool_result', content: 7 }), 'request.messages[0].content[0].content'],
  [ask({ system: 7 }), 'request.system'],
  [ask({ system: ['x'] }), 'request.system[0].text'],
  [ask({ temperature: 1.5 }), 'request.temperature'],
  [ask({ tool_choice: 'any' }), 'request.tool_choice'],
  [ask({ thinking: { budget_tokens: 1 } }), 'request.thinking'],
  [ask({ output_config: 'x' }), 'request.output_config'],
])('%j is at fault in %s', (request, field) => {
  expect(inspect(request).problems.map((problem) => problem.field)).toEqual([field]);
});

test('counts the system prompt and a document by its size', () => {
  const plain = inspect(ask({})).inputTokens;
  expect(inspect(ask({ system: 'Answer in one word.' })).inputTokens).toBeGreaterThan(plain);
  const pdf = source('base64', { media_type: 'application/pdf', data: 'A'.repeat(1_400_000) });
  expect(inspect(pdf).inputTokens).toBeGreaterThanOrEqual(50_000);
});

test('what an earlier thread holds is counted, though it cannot be seen', () => {
  const plain = inspect(ask({})).inputTokens;
  expect(inspect(ask({ previous_thread_event_id: 'event_1' })).inputTokens).toBe(plain + 4_000);
});
