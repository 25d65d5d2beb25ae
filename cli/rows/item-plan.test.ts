import { expect, test } from 'vitest';
import { type ItemChoices, planItems } from './item-plan.ts';
import type { Row } from './row.ts';
import { parseTemplate } from './template.ts';

const NONE: ItemChoices = { endpoint: undefined, model: undefined, template: undefined, idColumn: undefined };

function row(value: Row['value'], line = 1): Row {
  return { line, value, text: JSON.stringify(value) };
}

function openAiLine(body: object, url = '/v1/chat/completions', customId = 'r1'): Row {
  return row({ custom_id: customId, method: 'POST', url, body });
}

const template = parseTemplate('Q {{q}}');

test.each([
  ['chat.completions', { messages: [{ role: 'user', content: 'Q x' }] }],
  ['responses', { input: 'Q x' }],
  ['messages', { messages: [{ role: 'user', content: 'Q x' }] }],
  ['generate_content', { contents: [{ role: 'user', parts: [{ text: 'Q x' }] }] }],
  ['embeddings', { input: 'Q x' }],
  ['moderations', { input: 'Q x' }],
] as const)('makes requests of %s from rows', (endpoint, request) => {
  const plan = planItems(row({ q: 'x' }), 'f', { ...NONE, template, endpoint, model: 'm' });
  expect(JSON.parse(plan.toItem(row({ q: 'x' }), 12))).toEqual({ custom_id: 'row_000012', request });
  expect(plan).toMatchObject({ endpoint, model: 'm' });
});

test('takes custom ids from a column', () => {
  const plan = planItems(row({ q: 'x', id: 7 }), 'f', { ...NONE, template, model: 'm', idColumn: 'id' });
  expect(JSON.parse(plan.toItem(row({ q: 'x', id: 7 }), 1)).custom_id).toBe('7');
  expect(JSON.parse(plan.toItem(row({ q: 'x', id: ' a' }), 1)).custom_id).toBe(' a');
  expect(() => plan.toItem(row({ q: 'x', id: '' }, 5), 1)).toThrow(
    'f, line 5: the column "id" for --id-column is empty',
  );
  expect(() => plan.toItem(row({ q: 'x' }, 6), 1)).toThrow('f, line 6: the column "id" for --id-column is not there');
  expect(() => plan.toItem(row({ q: 'x', id: {} }, 6), 1)).toThrow('is neither text nor a number');
});

test('recognises the lines of an OpenAI batch file and takes endpoint and model from the first', () => {
  const first = openAiLine({ model: 'gpt-4o-mini', input: 'x' }, '/v1/embeddings');
  const plan = planItems(first, 'f', NONE);
  expect(plan).toMatchObject({ endpoint: 'embeddings', model: 'gpt-4o-mini' });
  expect(JSON.parse(plan.toItem(first, 1))).toEqual({ custom_id: 'r1', request: { input: 'x' } });
  const other = openAiLine({ model: 'gpt-4o', input: 'y' }, '/v1/embeddings', 'r2');
  expect(JSON.parse(plan.toItem(other, 2))).toEqual({ custom_id: 'r2', request: { input: 'y', model: 'gpt-4o' } });
});

test('--model replaces the model of every OpenAI line', () => {
  const plan = planItems(openAiLine({ model: 'a' }), 'f', { ...NONE, model: 'analysis-small' });
  expect(plan.model).toBe('analysis-small');
  expect(JSON.parse(plan.toItem(openAiLine({ model: 'b' }), 1)).request).toEqual({});
  expect(JSON.parse(plan.toItem(openAiLine({}), 1)).request).toEqual({});
});

test.each([
  [openAiLine({ model: 'm' }, '/v1/images'), {}, 'f, line 1: url must be one of'],
  [openAiLine({}), {}, 'f, line 1: body names no model'],
  [openAiLine({ model: 'm' }), { endpoint: 'responses' as const }, 'The lines of f are for chat.completions'],
  [openAiLine({ model: 'm' }), { idColumn: 'x' }, '--id-column is for rows'],
  [row({ custom_id: 'a', request: {} }), {}, '--model is needed'],
  [row({ custom_id: 'a', request: {} }), { model: 'm', idColumn: 'x' }, '--id-column is for rows'],
  [row({ q: 'x' }), { template }, '--model is needed'],
  [row({ q: 'x', b: 1 }), { model: 'm' }, 'f holds rows (q, b): say what to ask of each with --template'],
])('refuses %j with %j', (first, choices, message) => {
  expect(() => planItems(first, 'f', { ...NONE, ...choices })).toThrow(message);
});

test('names a later OpenAI line that does not go with the first', () => {
  const plan = planItems(openAiLine({ model: 'm' }), 'f', NONE);
  const other = { ...openAiLine({ model: 'm' }, '/v1/embeddings'), line: 9 };
  expect(() => plan.toItem(other, 2)).toThrow('f, line 9: url is "/v1/embeddings", but /v1/chat/completions in line 1');
  expect(() => plan.toItem({ ...openAiLine({}), line: 8 }, 2)).toThrow('f, line 8: body names no model');
  expect(() => plan.toItem(row({ q: 1 }, 7), 2)).toThrow('f, line 7: body must be a JSON object');
});

test('passes items of our own on as they were written', () => {
  const text = '{"custom_id":"a","request":{"model":"own","seed":12345678901234567890}}';
  const first: Row = { line: 1, text, value: JSON.parse(text) };
  const plan = planItems(first, 'f', NONE);
  expect(plan).toMatchObject({ endpoint: 'chat.completions', model: 'own' });
  expect(plan.toItem(first, 1)).toBe(text);
  expect(planItems(first, 'f', { ...NONE, model: 'given' }).model).toBe('given');
});

test('with a template every line is a row, whatever it looks like', () => {
  const line = row({ custom_id: 'a', request: { x: 1 }, q: 'x' });
  const plan = planItems(line, 'f', { ...NONE, template, model: 'm' });
  expect(JSON.parse(plan.toItem(line, 1)).request).toEqual({ messages: [{ role: 'user', content: 'Q x' }] });
});
