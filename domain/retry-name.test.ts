import { expect, test } from 'vitest';
import { retryName } from './retry-name.ts';

test.each([
  [1, 'row_1'],
  [2, 'row_1.retry_1'],
  [10, 'row_1.retry_9'],
])('attempt %i is shown as %s', (attempt, name) => {
  expect(retryName('row_1', attempt)).toBe(name);
});
