import { expect, test } from 'vitest';
import { FEATURE, type Feature, hasFeature } from './request-features.ts';
import { inspectRequest } from './request-inspection.ts';

const inspect = (request: unknown) => inspectRequest('responses', request);
const featuresOf = (features: number) =>
  (Object.keys(FEATURE) as Feature[]).filter((name) => hasFeature(features, name));
const part = (members: object) => ({ input: [{ role: 'user', content: [members] }] });

test.each<[object, Feature[]]>([
  [{ input: 'Hello' }, []],
  [{ input: [{ role: 'user', content: 'Hello' }], instructions: 'Be brief.', max_output_tokens: 9 }, []],
  [{ input: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'x' }] }] }, []],
  [{ input: [{ type: 'function_call_output', call_id: 'c', output: 'x' }] }, []],
  [{ input: [{ type: 'item_reference', id: 'x' }] }, ['PROVIDER_STATE']],
  [{ previous_response_id: 'resp_1' }, ['PROVIDER_STATE']],
  [{ input: 'x', background: true }, ['PROVIDER_STATE']],
  [{ prompt: { id: 'pmpt_1' } }, ['PROVIDER_STATE']],
  [{ input: 'x', reasoning: { effort: 'high', summary: 'auto' } }, ['REASONING']],
  [{ input: 'x', reasoning: { effort: 'none' } }, ['REASONING_OFF']],
  [{ input: 'x', text: { format: { type: 'json_schema', name: 'x', schema: {} } } }, ['STRUCTURED_OUTPUT']],
  [{ input: 'x', text: { format: { type: 'json_object' } } }, ['JSON_MODE']],
  [{ input: 'x', user: 'u' }, ['END_USER']],
  [{ input: 'x', text: { verbosity: 'low' } }, []],
  [
    { input: 'x', tools: [{ type: 'function', name: 'f' }], tool_choice: { type: 'function' } },
    ['TOOLS', 'FORCED_TOOL'],
  ],
  [{ input: 'x', tools: [{ type: 'file_search' }] }, ['TOOLS', 'SERVER_TOOLS']],
  [part({ type: 'input_image', image_url: 'data:image/png;base64,AAAA' }), ['IMAGE_INPUT']],
  [part({ type: 'input_image', file_id: 'file-1' }), ['IMAGE_INPUT', 'PROVIDER_FILE']],
  [part({ type: 'input_file', file_url: 'https://x/a.pdf' }), ['DOCUMENT_INPUT', 'REMOTE_MEDIA']],
  [part({ type: 'input_file', file_data: 'AAAA' }), ['DOCUMENT_INPUT']],
  [part({ type: 'input_file', file_data: 'data:application/pdf;base64,AAAA' }), ['DOCUMENT_INPUT']],
  [part({ type: 'input_file', file_id: 'file-1' }), ['DOCUMENT_INPUT', 'PROVIDER_FILE']],
  [part({ type: 'input_audio', input_audio: { data: 'AAAA' } }), ['AUDIO_INPUT']],
])('%j asks for %j', (request, features) => {
  const inspection = inspect(request);
  expect(inspection.problems).toEqual([]);
  expect(featuresOf(inspection.features)).toEqual(features);
  expect(inspection.inputTokens).toBeGreaterThan(0);
});

test.each<[object, string]>([
  [{}, 'request.input'],
  [{ input: [] }, 'request.input'],
  [{ input: 7, prompt: { id: 'p' } }, 'request.input'],
  [{ input: ['x'] }, 'request.input[0]'],
  [{ input: [{ content: 'x' }] }, 'request.input[0].role'],
  [{ input: [{ type: 7 }] }, 'request.input[0].type'],
  [{ input: [{ role: 'user' }] }, 'request.input[0].content'],
  [part({ type: 'text', text: 'x' }), 'request.input[0].content[0].type'],
  [part({ type: 'input_text' }), 'request.input[0].content[0].text'],
  [part({ type: 'input_image' }), 'request.input[0].content[0]'],
  [part({ type: 'input_file' }), 'request.input[0].content[0]'],
  [part({ type: 'input_audio' }), 'request.input[0].content[0].input_audio.data'],
  [{ input: 'x', instructions: 7 }, 'request.instructions'],
  [{ input: 'x', max_output_tokens: -1 }, 'request.max_output_tokens'],
  [{ input: 'x', reasoning: 'high' }, 'request.reasoning'],
  [{ input: 'x', reasoning: { effort: 1 } }, 'request.reasoning'],
  [{ input: 'x', text: 'json' }, 'request.text'],
])('%j is at fault in %s', (request, field) => {
  expect(inspect(request).problems.map((problem) => problem.field)).toEqual([field]);
});

test('counts instructions, formats and what the provider holds', () => {
  const tokens = (members: object) => inspect({ input: 'Hello', ...members }).inputTokens;
  const plain = tokens({});
  expect(tokens({ instructions: 'Answer in one word.' })).toBeGreaterThan(plain);
  expect(tokens({ text: { format: { type: 'json_schema', schema: { a: 'a long description' } } } })).toBeGreaterThan(
    plain,
  );
  expect(tokens({ previous_response_id: 'resp_1' })).toBeGreaterThan(plain + 1_000);
});
