import { expect, test } from 'vitest';
import { assertNever } from './assert-never.ts';

test('names the value that no case was written for', () => {
  expect(() => assertNever('surprise' as never)).toThrow('unexpected value: "surprise"');
});
