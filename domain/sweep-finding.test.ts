import { expect, test } from 'vitest';
import { outcomeOf } from './sweep-finding.ts';

test.each([
  ['done', 1, 'repaired'],
  ['done', 9, 'repaired'],
  ['asked', 1, 'repaired'],
  ['asked', 2, 'raised'],
  ['asked', 9, 'raised'],
  ['nothing', 1, 'raised'],
] as const)('a finding about which was %s, found %i times, is %s', (repair, times, outcome) => {
  expect(outcomeOf(repair, times)).toBe(outcome);
});
