import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sliceElements, sliceMember } from './json-member.ts';

test.each([
  ['{"a":{"b":1.50}}', '1.50'],
  [' { "x" : [1,{"a":2}] , "a" : { "c":"}" , "b" : -1.0E+2 } } ', '-1.0E+2'],
  ['{"a":{"b":{"t":"\\"}\\\\","n":null}}}', '{"t":"\\"}\\\\","n":null}'],
  ['{"a":{"b":1,"b":2}}', '2'],
  ['{"a":{"b":1},"a":{"b":2}}', '2'],
  ['{"a":{"b":1},"a":5}', null],
  ['{"a":{"b":1},"a":{}}', null],
  ['{"\\u0061":{"b":[1,2]}}', '[1,2]'],
  ['{"a":{"c":{"b":1}}}', null],
  ['{"b":1,"a":[{"b":2}]}', null],
  ['{"a":{"b":"\\\\"}}', '"\\\\"'],
  ['{}', null],
])('finds a.b of %s', (json, expected) => {
  expect(sliceMember(json, ['a', 'b'])).toBe(expected);
});

test('agrees with JSON.parse on any object', () => {
  const value = fc.jsonValue({ maxDepth: 4 });
  const spaces = fc.constantFrom(undefined, 1, '\t');
  fc.assert(
    fc.property(value, fc.dictionary(fc.string(), value), spaces, (body, others, indent) => {
      const json = JSON.stringify({ ...others, response: { ...others, body, after: others } }, null, indent);
      const slice = sliceMember(json, ['response', 'body']);
      expect(JSON.parse(slice ?? '"missing"')).toEqual(JSON.parse(JSON.stringify(body)));
      expect(json).toContain(slice);
    }),
  );
});

test('cuts an array into its elements as they were written', () => {
  expect(sliceElements(' [ 1.50 , "a]," ,[2,[3]], {"b":"\\"]"} ] ')).toEqual([
    '1.50',
    '"a],"',
    '[2,[3]]',
    '{"b":"\\"]"}',
  ]);
  expect(sliceElements('[ ]')).toEqual([]);
  expect(sliceElements('[1]')).toEqual(['1']);
});

test('cuts any array as JSON.parse does', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue({ maxDepth: 3 })), fc.constantFrom(undefined, 1), (values, indent) => {
      const elements = sliceElements(JSON.stringify(values, null, indent));
      expect(elements.map((element) => JSON.parse(element))).toEqual(JSON.parse(JSON.stringify(values)));
    }),
  );
});
