import { expect, test } from 'vitest';
import { type Directives, parseDirectives, withoutDirectives } from './directives.ts';

test.for([
  { prompt: 'plain', found: undefined },
  { prompt: 'a [[sim:error=server_error]] b', found: { error: 'server_error' } },
  { prompt: '[[sim:invalid]]', found: { invalid: true } },
  { prompt: '[[sim:invalid_line]]', found: { invalidLine: true } },
  { prompt: '[[sim:safety]][[sim:once]]', found: { safety: true, once: true } },
  { prompt: '[[sim:expire]]', found: { expire: true } },
  { prompt: '[[sim:missing]] [[sim:duplicate]]', found: { missing: true, duplicate: true } },
  { prompt: '[[sim:usage=10,20]]', found: { usage: { input: 10, cached: 0, output: 20 } } },
  { prompt: '[[sim:usage=1000,800,100]]', found: { usage: { input: 1000, cached: 800, output: 100 } } },
  { prompt: '[[sim:usage=none]]', found: { usage: 'none' } },
  { prompt: '[[sim:text=a ] b = c\u2028d]]', found: { text: 'a ] b = c\u2028d' } },
  { prompt: '[[sim:text=]]', found: { text: '' } },
  { prompt: '[[sim:chars=40]][[sim:reasoning=7]]', found: { chars: 40, reasoning: 7 } },
  { prompt: '[[sim:cache_write=5]]', found: { cacheWrite: 5 } },
  { prompt: '[[sim:rows=broken]]', found: { rows: { kind: 'broken' } } },
  { prompt: '[[sim:rows=wrong_type]]', found: { rows: { kind: 'wrong_type' } } },
  { prompt: '[[sim:rows=missing:Total amount]]', found: { rows: { kind: 'missing', column: 'Total amount' } } },
] satisfies { prompt: string; found: Directives | undefined }[])('reads $prompt', ({ prompt, found }) => {
  expect(parseDirectives(prompt)).toEqual(found);
});

test.for([
  'oops',
  'error',
  'invalid=1',
  'usage=1',
  'usage=1,-2',
  'usage=a,b',
  'chars=many',
  'rows',
  'rows=',
  'rows=missing:',
  '',
])('reports the mark %s as unknown', (mark) => {
  expect(parseDirectives(`[[sim:${mark}]] [[sim:once]]`)).toEqual({ once: true, unknown: [mark] });
});

test('takes the marks out of the prompt', () => {
  expect(withoutDirectives('[[sim:once]] What is 2 + 2? [[sim:text=4]]')).toBe('What is 2 + 2?');
});
