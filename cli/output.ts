import type { Context } from './command.ts';
import { plainText } from './errors.ts';
import type { Style } from './terminal.ts';
import { cutText, textWidth } from './text-width.ts';

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => string | number | null | undefined;
  readonly align?: 'left' | 'right';
  /** Longer text is cut to this many columns. */
  readonly maxWidth?: number;
  readonly style?: (row: Row) => Style | undefined;
}

const GAP = '  ';

/** Rows in aligned columns under their titles; lines end without spaces. */
export function table<Row>(
  { terminal }: Pick<Context, 'terminal'>,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
): string {
  const texts = rows.map((row) => columns.map((column) => cellText(column, row)));
  const widths = columns.map(({ title }, index) =>
    Math.max(textWidth(title), ...texts.map((line) => textWidth(line[index] ?? ''))),
  );
  const head = columns.map((column, index) =>
    terminal.paint('dim', pad(column.title, widths[index] ?? 0, column.align)),
  );
  const lines = texts.map((line, rowIndex) =>
    columns.map((column, index) => {
      const padded = pad(line[index] ?? '', widths[index] ?? 0, column.align);
      const row = rows[rowIndex];
      const style = row === undefined ? undefined : column.style?.(row);
      return style === undefined ? padded : terminal.paint(style, padded);
    }),
  );
  return [head, ...lines].map((cells) => `${cells.join(GAP).trimEnd()}\n`).join('');
}

/** Names and values, one pair a line; pairs without a value are left out. */
export function fields(
  { terminal }: Pick<Context, 'terminal'>,
  pairs: readonly (readonly [string, string | number | null | undefined])[],
): string {
  const shown = pairs.filter(([, value]) => value !== null && value !== undefined && value !== '');
  const width = Math.max(0, ...shown.map(([name]) => textWidth(name)));
  return shown
    .map(([name, value]) => `${terminal.paint('dim', pad(name, width))}${GAP}${plainText(String(value))}\n`)
    .join('');
}

function cellText<Row>({ cell, maxWidth = Number.POSITIVE_INFINITY }: Column<Row>, row: Row): string {
  const value = cell(row);
  if (value === null || value === undefined || value === '') return '-';
  return cutText(plainText(typeof value === 'number' ? count(value) : value), maxWidth);
}

function pad(text: string, width: number, align: 'left' | 'right' = 'left'): string {
  const spaces = ' '.repeat(Math.max(0, width - textWidth(text)));
  return align === 'left' ? text + spaces : spaces + text;
}

export function printJson({ terminal }: Pick<Context, 'terminal'>, value: unknown): void {
  terminal.out.write(`${JSON.stringify(value)}\n`);
}

/** 1234567 → 1,234,567, whatever the locale. */
export function count(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** 1 → 1 job, 1200 → 1,200 jobs. */
export function plural(value: number, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? '' : 's'}`;
}

/** 2026-08-19T10:05:12.123Z → 2026-08-19 10:05:12Z. */
export function time(timestamp: string | null): string | null {
  return timestamp === null ? null : timestamp.replace('T', ' ').replace(/\.\d+(?=Z$)/, '');
}

/** 4 s, 3 min 20 s, 2 h 5 min, 3 d 4 h. */
export function duration(durationMs: number): string {
  const seconds = Math.max(0, Math.round(durationMs / 1000));
  const [minutes, hours, days] = [Math.floor(seconds / 60), Math.floor(seconds / 3600), Math.floor(seconds / 86_400)];
  if (minutes === 0) return `${seconds} s`;
  if (hours === 0) return minutes < 10 ? `${minutes} min ${seconds % 60} s` : `${minutes} min`;
  return days === 0 ? `${hours} h ${minutes % 60} min` : `${days} d ${hours % 24} h`;
}
