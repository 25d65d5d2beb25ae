import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isTextTooDeep, MAX_JSON_DEPTH } from './json-depth.ts';

function nested(levels: number, [open, close]: readonly [string, string]): string {
  return `${open.repeat(levels)}1${close.repeat(levels)}`;
}

test.each([
  ['lists', ['[', ']']],
  ['objects', ['{"a":', '}']],
  ['both', ['{"a":[', ']}']],
] as const)('%s may nest as deep as the limit and no deeper', (_, brackets) => {
  const each = brackets[0].split('').filter((mark) => mark === '[' || mark === '{').length;
  expect(isTextTooDeep(nested(MAX_JSON_DEPTH / each, brackets))).toBe(false);
  expect(isTextTooDeep(nested(MAX_JSON_DEPTH / each + 1, brackets))).toBe(true);
});

test('a hundred thousand levels, closed or not, are too deep', () => {
  expect(isTextTooDeep(nested(100_000, ['[', ']']))).toBe(true);
  expect(isTextTooDeep('['.repeat(100_000))).toBe(true);
});

test('brackets inside strings do not count, whatever is escaped before a quote', () => {
  const text = JSON.stringify({ a: '['.repeat(1_000), 'b\\"[': ['\\', '"['.repeat(500), '\\"'] });
  expect(isTextTooDeep(text)).toBe(false);
  expect(isTextTooDeep(`"${'['.repeat(1_000)}`)).toBe(false);
});

test('many neighbours are not deep', () => {
  expect(isTextTooDeep(`[${'[],'.repeat(10_000)}[]]`)).toBe(false);
});

test('property: what is found in the text is what is found in the value', () => {
  const depthOf = (value: unknown): number =>
    typeof value === 'object' && value !== null
      ? 1 + Math.max(0, ...Object.values(value).map((member) => depthOf(member)))
      : 0;
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.integer({ min: 94, max: 102 }), (value, levels) => {
      const text = `${'['.repeat(levels)}${JSON.stringify(value)}${']'.repeat(levels)}`;
      expect(isTextTooDeep(text)).toBe(levels + depthOf(value) > MAX_JSON_DEPTH);
    }),
  );
});
