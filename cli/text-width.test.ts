import { expect, test } from 'vitest';
import { cutText, textWidth } from './text-width.ts';

test.each([
  ['abc', 3],
  ['Größe', 5],
  ['e\u0301', 1],
  ['日本', 4],
  ['한글', 4],
  ['👍🏽', 2],
  ['👩‍👩‍👧', 2],
  ['█▒░', 3],
  ['—…', 2],
])('%s takes %i columns', (text, width) => {
  expect(textWidth(text)).toBe(width);
});

test.each([
  ['abcdef', 6, 'abcdef'],
  ['abcdef', 5, 'abcd…'],
  ['日本語', 5, '日本…'],
  ['日本語', 4, '日…'],
  ['abc', 0, ''],
])('cuts %s to %i columns', (text, width, cut) => {
  expect(cutText(text, width)).toBe(cut);
});
