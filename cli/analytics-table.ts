import type { AnalyticsAnswer } from './analytics-call.ts';
import type { Context } from './command.ts';
import { csvRecord } from './csv.ts';
import { type Column, duration, table } from './output.ts';

type Cell = string | number | null;
/** Names and values of a row in their order, groups first and each in a column of its own. */
type FlatRow = readonly (readonly [string, Cell])[];

const TEXTS = ['class', 'code', 'currency'];

/** The rows of each part of an answer, by the name of the part. */
function partsOf(answer: AnalyticsAnswer): { readonly name: string; readonly rows: readonly FlatRow[] }[] {
  const data = { name: 'data', rows: answer.data.map(flatten) };
  return 'refusals' in answer ? [data, { name: 'refusals', rows: answer.refusals.map(flatten) }] : [data];
}

/** A table of every part that has rows, under its name where there is more than one. */
export function analyticsTables(context: Pick<Context, 'terminal'>, answer: AnalyticsAnswer): string {
  const parts = partsOf(answer);
  const shown = parts.filter(({ rows }) => rows.length > 0);
  if (shown.length === 0) return 'There is nothing to show.\n';
  return shown
    .map(({ name, rows }) => {
      const title =
        parts.length === 1 ? '' : `${name === 'data' ? 'Items that did not complete' : 'Refused submissions'}:\n`;
      return title + table(context, columnsOf(rows), rows);
    })
    .join('\n');
}

/** RFC 4180; where an answer has parts, the first column names a row's, and columns of either are there for both. */
export function analyticsCsv(answer: AnalyticsAnswer): string {
  const parts = partsOf(answer);
  const names = [...new Set(parts.flatMap(({ rows }) => rows.flatMap((row) => row.map(([name]) => name))))];
  const isParted = parts.length > 1;
  const lines = parts.flatMap(({ name, rows }) =>
    rows.map((row) => csvRecord([...(isParted ? [name] : []), ...names.map((column) => cellOf(row, column))])),
  );
  return csvRecord([...(isParted ? ['part'] : []), ...names]) + lines.join('');
}

function flatten(row: object): FlatRow {
  return Object.entries(row).flatMap(([name, value]): [string, Cell][] => {
    if (typeof value !== 'object' || value === null) return [[name, value as Cell]];
    const members = Object.entries(value as Record<string, Cell>);
    return members.map(([member, cell]) => [name === 'group' ? member : `${name}_${member}`, cell]);
  });
}

function columnsOf(rows: readonly FlatRow[]): Column<FlatRow>[] {
  const first = rows[0] ?? [];
  return first.map(([name, value]) => ({
    title: name.replace(/_ms$/, '').replaceAll('_', ' ').toUpperCase(),
    align: TEXTS.includes(name) || (typeof value !== 'number' && !isAmount(rows, name)) ? 'left' : 'right',
    maxWidth: 40,
    cell: (row) => show(name, cellOf(row, name)),
  }));
}

function show(name: string, value: Cell): Cell {
  if (typeof value !== 'number') return value;
  if (name.endsWith('_ms')) return duration(value);
  return /_(?:rate|ratio)$/.test(name) ? `${(value * 100).toFixed(1)} %` : value;
}

function isAmount(rows: readonly FlatRow[], name: string): boolean {
  return rows.every((row) => {
    const value = cellOf(row, name);
    return value === null || typeof value === 'number' || /^-?\d+\.\d+$/.test(value);
  });
}

function cellOf(row: FlatRow, column: string): Cell {
  return row.find(([name]) => name === column)?.[1] ?? null;
}
