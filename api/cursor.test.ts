import { expect, test } from 'vitest';
import { z } from 'zod';
import { CursorInteger, decodeCursor, encodeCursor } from './cursor.ts';

const Items = [CursorInteger, z.string()] as const;

test('a cursor gives back what it was made of', () => {
  expect(decodeCursor('list', Items, encodeCursor('list', [7, 'ü']))).toEqual([7, 'ü']);
  expect(decodeCursor('list', Items, undefined)).toBeNull();
});

test.each([
  ['of another list', encodeCursor('other', [7, 'x'])],
  ['of another shape', encodeCursor('list', ['x', 7])],
  ['too short', encodeCursor('list', [7])],
  ['too long', encodeCursor('list', [7, 'x', 1])],
  ['out of range', encodeCursor('list', [2 ** 31, 'x'])],
  ['no JSON', 'abc'],
  ['no base64', '!!'],
  ['empty', ''],
])('a cursor that is %s is refused', (_, cursor) => {
  expect(() => decodeCursor('list', Items, cursor)).toThrow(expect.objectContaining({ code: 'invalid_cursor' }));
});
