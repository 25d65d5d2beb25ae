import { expect, test } from 'vitest';
import { keptErrors } from './provider-words.ts';

const ERRORS = [
  { code: 'invalid_json_line', message: 'not JSON: my secret', line: 7, param: 'my secret', at: new Date(0) },
  { code: 'my secret in a code', status: 400 },
  'my secret',
];

test('errors are kept whole where content is', () => {
  expect(keptErrors('raw', ERRORS)).toBe(ERRORS);
  expect(keptErrors('normalized', ERRORS)).toBe(ERRORS);
});

test.each(['pointers', 'hashes'] as const)('%s keeps which errors they were, and no word of them', (storage) => {
  expect(keptErrors(storage, ERRORS)).toEqual([
    { code: 'invalid_json_line', line: 7, at: new Date(0) },
    { status: 400 },
    null,
  ]);
});
