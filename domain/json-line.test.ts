import { describe, expect, test } from 'vitest';
import { MAX_JSON_DEPTH } from './json-depth.ts';
import { parseJsonLine } from './json-line.ts';

const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

describe('accepts', () => {
  test.each([
    ['an object', '{"custom_id":"a","request":{}}'],
    ['surrounding white space', ' {"a":1} \r'],
    ['a whole emoji, raw or escaped', '{"a":"😀","b":"\\ud83d\\ude00"}'],
    ['an escaped backslash before what looks like half a pair', '{"a":"\\\\ud83d"}'],
    ['long digits inside strings', '{"card":"12345678901234567890","9007199254740993":"9007199254740993"}'],
    ['the largest exact whole number', '{"a":9007199254740991,"b":-9007199254740991}'],
    ['a fraction with many digits', '{"a":0.12345678901234567890}'],
    ['exponents a double holds', '{"a":1e100,"b":1E-400,"c":2e+5}'],
    ['raw Unicode line separators', '{"a":"x\u2028y\u2029z\u0085"}'],
    ['an escaped NUL', '{"a":"\\u0000"}'],
    ['the deepest allowed nesting', nested(MAX_JSON_DEPTH)],
    ['wide lists', JSON.stringify({ a: Array.from({ length: 5_000 }, (_, index) => [index]) })],
  ])('%s', (_what, text) => {
    expect(parseJsonLine(text)).toEqual({ ok: true, value: JSON.parse(text) });
  });
});

describe('refuses', () => {
  test.each([
    ['null', 'null', /not null/],
    ['a list', '[1,2]', /not a list/],
    ['a string', '"x"', /not a string/],
    ['a number', '3', /not a number/],
    ['a boolean', 'true', /not a boolean/],
  ])('%s as a line', (_what, text, message) => {
    expect(parseJsonLine(text)).toMatchObject({
      ok: false,
      error: 'invalid_item',
      message: expect.stringMatching(message),
    });
  });

  test.each([
    ['nothing', '', /not valid JSON/],
    ['half a line', '{"a":1', /not valid JSON \(at character 7\)/],
    ['two objects', '{}{}', /not valid JSON \(at character 3\)/],
    ['NaN', '{"a":NaN}', /not valid JSON/],
    ['a comment', '{"a":1}//x', /not valid JSON/],
    ['a byte order mark', '\ufeff{"a":1}', /not valid JSON/],
    ['a raw control character', '{"a":"\u0001"}', /not valid JSON/],
    ['half a surrogate pair, escaped', '{"a":["x","\\ud83d"]}', /surrogate/],
    ['the other half, in upper case', '{"a":"\\uDE00 x"}', /surrogate/],
    ['half a pair in a name', '{"a":{"\\uD83D":1}}', /surrogate/],
    ['half a surrogate pair, raw', '{"a":"\ud83d"}', /surrogate/],
    ['a whole number beyond 2^53', '{"a":[{"b":9007199254740993}]}', /contains 9007199254740993,/],
    ['2^53 itself', '{"a":9007199254740992}', /cannot hold exactly/],
    ['a negative one', '{"a":-9007199254740993}', /contains -9007199254740993,/],
    [
      'a large one beside long digits in a string',
      '{"s":"1234567890123456","a":12345678901234567890}',
      /12345678901234567890/,
    ],
    ['a number too large for a double', '{"a":1e400}', /contains 1e400,/],
    ['deeper nesting', nested(MAX_JSON_DEPTH + 1), /deeper than 100 levels/],
    ['nesting that would overflow a stack', `{"a":${'['.repeat(200_000)}${']'.repeat(200_000)}}`, /deeper than 100/],
  ])('%s', (_what, text, message) => {
    expect(parseJsonLine(text)).toMatchObject({
      ok: false,
      error: 'invalid_json',
      message: expect.stringMatching(message),
    });
  });

  test('without quoting the text, which may be a prompt', () => {
    const refused = parseJsonLine('{"a": secret prompt}');
    expect(refused.ok ? '' : refused.message).not.toContain('secret');
  });
});
