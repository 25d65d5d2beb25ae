import { expect, test } from 'vitest';
import type { FaultAction } from './fault-actions.ts';
import { appendedLines, bytesToCut, createLineDamage, type ResultLine } from './line-faults.ts';

const rewriters = {
  emptyBody: (line: string) => `empty ${line}`,
  zeroStatus: (line: string) => `zero ${line}`,
  withoutKey: (line: string) => `keyless ${line}`,
};
const LINES: ResultLine[] = [
  { file: 'output', text: 'aa' },
  { file: 'error', text: 'bb' },
  { file: 'output', text: 'cc' },
  { file: 'output', text: 'dd' },
];

function damaged(action: FaultAction): string[] {
  const damage = createLineDamage(action, rewriters) ?? ((line) => [line]);
  return LINES.flatMap(damage).map(({ file, text }) => `${file}:${text}`);
}

test.for([
  { action: {}, lines: ['output:aa', 'error:bb', 'output:cc', 'output:dd'] },
  { action: { omit_lines: 1 }, lines: ['error:bb', 'output:cc', 'output:dd'] },
  { action: { omit_lines: { every: 2 } }, lines: ['output:aa', 'output:cc'] },
  { action: { omit_lines: { index: [0, 3] } }, lines: ['error:bb', 'output:cc'] },
  { action: { omit_lines: { file: 'output', first: 2 } }, lines: ['error:bb', 'output:dd'] },
  { action: { omit_lines: { file: 'error' } }, lines: ['output:aa', 'output:cc', 'output:dd'] },
  { action: { omit_lines: { containing: ['c', 'd'] } }, lines: ['output:aa', 'error:bb'] },
  {
    action: { duplicate_lines: { index: [2] } },
    lines: ['output:aa', 'error:bb', 'output:cc', 'output:cc', 'output:dd'],
  },
  {
    action: { duplicate_lines: { first: 1, to: 'error' } },
    lines: ['output:aa', 'error:aa', 'error:bb', 'output:cc', 'output:dd'],
  },
  { action: { move_lines: { first: 1, to: 'error' } }, lines: ['error:aa', 'error:bb', 'output:cc', 'output:dd'] },
  { action: { garble_lines: { index: [0] } }, lines: ['output:a', 'error:bb', 'output:cc', 'output:dd'] },
  { action: { no_key_lines: 1 }, lines: ['output:keyless aa', 'error:bb', 'output:cc', 'output:dd'] },
  {
    action: { zero_status_lines: { first: 1, to: 'error' } },
    lines: ['error:zero aa', 'error:bb', 'output:cc', 'output:dd'],
  },
  {
    action: { empty_body_lines: 1, omit_lines: { index: [3] } },
    lines: ['output:empty aa', 'error:bb', 'output:cc'],
  },
] satisfies { action: FaultAction; lines: string[] }[])('damages lines by $action', ({ action, lines }) => {
  expect(damaged(action)).toEqual(lines);
});

test('spoils a line so that no decoder takes it', () => {
  const [line] = createLineDamage({ invalid_utf8_lines: 1 }, rewriters)?.({ file: 'output', text: 'word' }) ?? [];
  expect(() => new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(line?.text ?? ''))).toThrow(TypeError);
});

test('appends raw lines to the output file, or to the one named', () => {
  expect(appendedLines({ append_raw_lines: ['x'] })).toEqual([{ file: 'output', text: 'x' }]);
  const named = { append_raw_lines: { file: 'error' as const, lines: ['y'] } };
  expect(appendedLines(named)).toEqual([{ file: 'error', text: 'y' }]);
  expect(appendedLines({})).toEqual([]);
});

test('cuts half of the last line, counted in bytes, of the file it is asked for', () => {
  expect(bytesToCut({ half_last_line: true }, 'output', 'abcd')).toBe(2);
  expect(bytesToCut({ half_last_line: 'error' }, 'error', 'éé')).toBe(2);
  expect(bytesToCut({ half_last_line: 'error' }, 'output', 'abcd')).toBe(0);
  expect(bytesToCut({}, 'output', 'abcd')).toBe(0);
});
