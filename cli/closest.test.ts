import { expect, test } from 'vitest';
import { closest } from './closest.ts';

test.each([
  ['runn', 'run'],
  ['resluts', 'results'],
  ['rn', 'run'],
  ['banana', null],
  ['', null],
])('%s was meant for %s', (given, meant) => {
  expect(closest(given, ['run', 'results', 'status'])).toBe(meant);
});
