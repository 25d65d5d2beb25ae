import { expect, test } from 'vitest';
import { parseTemplate } from './template.ts';

function fill(text: string, value: { readonly [column: string]: unknown }): string {
  return parseTemplate(text).fill({ line: 3, value }, 'in.csv');
}

test.each([
  ['Q: {{q}}', { q: 'why?' }, 'Q: why?'],
  ['{{ a b }}/{{a b}}', { 'a b': 'x' }, 'x/x'],
  ['{{n}} {{flag}} {{list}} {{none}}', { n: 1.5, flag: false, list: [1, 'a'], none: null }, '1.5 false [1,"a"] '],
  ['{"json": {"q": "{{q}}"}}', { q: 'x' }, '{"json": {"q": "x"}}'],
])('fills %j', (text, value, filled) => {
  expect(fill(text, value)).toBe(filled);
});

test('takes values as they are, whatever they look like', () => {
  expect(fill('{{a}}', { a: '{{b}} $& $1', b: 'no' })).toBe('{{b}} $& $1');
});

test.each([
  ['no place', 'names no column'],
  ['{{}}', 'a place without a name'],
  ['{{ }} {{a}}', 'a place without a name'],
  ['{{a}} {{b', 'opens {{ and does not close it'],
])('refuses %j', (text, message) => {
  expect(() => parseTemplate(text)).toThrow(message);
});

test('names the line and the columns there are when one is missing', () => {
  expect(() => fill('{{quesion}}', { question: 'x', id: 1 })).toThrow(
    'in.csv, line 3: no column "quesion" for the template; this row has question, id',
  );
  expect(() => fill('{{toString}}', { a: 1 })).toThrow('no column "toString"');
});
