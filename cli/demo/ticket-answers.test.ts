import { expect, test } from 'vitest';
import { fakeResult } from '../testing/fake-job.ts';
import { AnswerTally } from './ticket-answers.ts';

function answer(content: string | null) {
  return fakeResult('t', { result: { choices: [{ message: { content } }] } });
}

test('counts categories, most often first, and what cannot be read', () => {
  const tally = new AnswerTally();
  for (const [category, urgency] of [
    ['billing', 'low'],
    ['damage', 'high'],
    ['damage', 'low'],
  ]) {
    tally.add(answer(JSON.stringify({ category, urgency })));
  }
  tally.add(answer('no JSON'));
  tally.add(answer(null));
  expect(tally.byCategory()).toEqual([
    { category: 'damage', tickets: 2 },
    { category: 'billing', tickets: 1 },
  ]);
  expect([tally.highUrgency, tally.unread]).toEqual([1, 2]);
});
