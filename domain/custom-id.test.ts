import { describe, expect, test } from 'vitest';
import { validateCustomId } from './custom-id.ts';

const STRICT = { allowEmailLike: false };

test.each([
  'a',
  'tenantA.invoice_extraction.2026-08-19.row_000381',
  ' kept as given ',
  'zeile\u00a0ä\u2028x',
  'a/../b?c#d%2e',
  '😀'.repeat(512),
  '7',
  'user@host',
  'pkg@1.2.3',
  '@handle.name',
  'a @ b.example',
])('accepts %j exactly as given', (customId) => {
  expect(validateCustomId(customId, STRICT)).toEqual({ ok: true, customId });
});

test.each([
  [undefined, 'custom_id_missing'],
  [null, 'custom_id_missing'],
  [7, 'custom_id_invalid'],
  [['a'], 'custom_id_invalid'],
  ['', 'custom_id_invalid'],
  [' \t ', 'custom_id_invalid'],
  ['\u3000\u00a0', 'custom_id_invalid'],
  ['a\nb', 'custom_id_invalid'],
  ['a\u0000', 'custom_id_invalid'],
  ['a\u007f', 'custom_id_invalid'],
  ['a\u0085', 'custom_id_invalid'],
  ['a\ud83d', 'custom_id_invalid'],
  ['x'.repeat(513), 'custom_id_invalid'],
  ['😀'.repeat(513), 'custom_id_invalid'],
])('refuses %j as %s', (value, error) => {
  expect(validateCustomId(value, STRICT)).toMatchObject({
    ok: false,
    error,
    message: expect.stringMatching(/^custom_id /),
  });
});

describe('an id shaped like an e-mail address', () => {
  const shapes = [
    'jane@example.com',
    'row-1:jane.doe+x@mail.example.co.uk',
    'jürgen@bücher.example',
    'jane%40example.com',
    'jane＠example.com',
    '<jane@example.com>',
  ];

  test.each(shapes)('%s is refused, unless the tenant allows it', (customId) => {
    expect(validateCustomId(customId, STRICT)).toMatchObject({ ok: false, error: 'custom_id_may_be_personal' });
    expect(validateCustomId(customId, { allowEmailLike: true })).toEqual({ ok: true, customId });
  });
});
