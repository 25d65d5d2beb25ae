import { expect, test } from 'vitest';
import { fakeResult } from '../testing/fake-job.ts';
import { completionText, resultLine } from './result-line.ts';

test('is one line that starts with what a reader looks for and keeps the rest', () => {
  const row = fakeResult('row_1');
  const line = resultLine(row);
  expect(line.startsWith('{"custom_id":"row_1","status":"completed","text":"re row_1","error":null,"result":{')).toBe(
    true,
  );
  expect(line.indexOf('\n')).toBe(line.length - 1);
  expect(JSON.parse(line)).toEqual({ ...row, text: 're row_1' });
});

test('has no text where there is no chat completion', () => {
  const error = { class: 'provider_error' as const, code: 'provider_timeout', message: 'm' };
  const line = JSON.parse(resultLine(fakeResult('row_1', { status: 'failed', result: null, error })));
  expect(line).toMatchObject({ status: 'failed', result: null, error });
  expect(line).not.toHaveProperty('text');
});

test.each([
  [null],
  ['text'],
  [{ choices: [] }],
  [{ choices: [{ message: { content: null } }] }],
  [{ data: [{ embedding: [0.1] }] }],
])('finds no text in %j', (result) => {
  expect(completionText(result)).toBeNull();
});
