import { expect, test } from 'vitest';
import { type Column, count, duration, fields, plural, table, time } from './output.ts';
import { createTerminal } from './terminal.ts';

const SILENT = { write: () => true };
const context = { terminal: createTerminal(SILENT, SILENT, {}) };

interface Row {
  readonly name: string | null;
  readonly items: number;
}

const COLUMNS: readonly Column<Row>[] = [
  { title: 'NAME', cell: ({ name }) => name, maxWidth: 6, style: () => 'green' },
  { title: 'ITEMS', align: 'right', cell: ({ items }) => items },
];

test('aligns columns by what is seen, and ends lines without spaces', () => {
  const rows = [
    { name: '日本', items: 1_234_567 },
    { name: 'a longer name', items: 5 },
    { name: null, items: 0 },
  ];
  expect(table(context, COLUMNS, rows)).toBe(
    ['NAME        ITEMS', '日本    1,234,567', 'a lon…          5', '-               0', ''].join('\n'),
  );
});

test('lets nothing through that would steer a terminal', () => {
  expect(table(context, COLUMNS, [{ name: '\x1b[2J', items: 1 }])).not.toContain('\x1b');
  expect(fields(context, [['name', 'a\r\n\x07b']])).toBe('name  a   b\n');
});

test('shows the fields that have a value, aligned', () => {
  expect(
    fields(context, [
      ['a', 1],
      ['none', null],
      ['longer', 'x'],
      ['empty', ''],
    ]),
  ).toBe('a       1\nlonger  x\n');
});

test.each([
  ['a terminal', { isTTY: true }, {}, true],
  ['a terminal where NO_COLOR is set', { isTTY: true }, { NO_COLOR: '1' }, false],
  ['a terminal where NO_COLOR is empty', { isTTY: true }, { NO_COLOR: '' }, true],
  ['a dumb terminal', { isTTY: true }, { TERM: 'dumb' }, false],
  ['a pipe', {}, {}, false],
])('%s', (_what, stream, environment, hasColours) => {
  const { paint } = createTerminal({ ...SILENT, ...stream }, SILENT, environment);
  expect(paint('red', 'x')).toBe(hasColours ? '\x1b[31mx\x1b[39m' : 'x');
});

test.each([
  [0, '0'],
  [999, '999'],
  [1000, '1,000'],
  [1_234_567, '1,234,567'],
])('writes %i as %s', (value, text) => {
  expect(count(value)).toBe(text);
});

test('says one job and two jobs', () => {
  expect([plural(1, 'job'), plural(1200, 'job')]).toEqual(['1 job', '1,200 jobs']);
});

test.each([
  [-5, '0 s'],
  [59_400, '59 s'],
  [60_000, '1 min 0 s'],
  [599_000, '9 min 59 s'],
  [3_599_000, '59 min'],
  [3_600_000, '1 h 0 min'],
  [90_000_000, '1 d 1 h'],
])('%i ms are %s', (durationMs, text) => {
  expect(duration(durationMs)).toBe(text);
});

test('shows times without fractions', () => {
  expect(time('2026-08-19T10:05:12.123Z')).toBe('2026-08-19 10:05:12Z');
  expect(time(null)).toBeNull();
});
