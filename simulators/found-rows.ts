import { foldName, type RowMember } from './rows-schema.ts';

/** A row that a text has, by the keys of its members. */
export interface FoundRow {
  /** From 1. */
  page: number;
  values: Map<string, string>;
}

/** Where the cells of a table end; the last is what a page of a PDF has between them. */
const DELIMITERS = ['\t', ';', ',', '|', /\s{2,}/] as const;
type Delimiter = (typeof DELIMITERS)[number];

const NAMED_VALUE = /^([^:]{1,80}):\s*(.*)$/;
const PAGE_MARK = /^\W*page (\d+)\W*$/i;

interface Table {
  delimiter: Delimiter;
  /** The member each cell belongs to, if any. */
  members: (RowMember | undefined)[];
}

/**
 * The rows that a person would find in a text: the lines of its tables, whose first line names the members, each with what
 * lines such as `Date: 2026-08-19` say of the whole; without a table, what such lines say, a new row at each name that comes
 * again. Pages are numbered from 1, or by lines such as `[page 2]`.
 */
export function findRows(pages: readonly string[], members: readonly RowMember[]): FoundRow[] {
  const inTables: FoundRow[] = [];
  const named: FoundRow[] = [];
  let table: Table | undefined;
  let page = 0;
  for (const [index, text] of pages.entries()) {
    page = index + 1;
    for (const line of text.split(/\r?\n/).map((each) => each.trim())) {
      page = Number(PAGE_MARK.exec(line)?.[1] ?? page);
      const header = readHeader(line, members);
      const cells = table === undefined || line === '' ? [] : splitCells(line, table.delimiter);
      if (header !== undefined) table = header;
      else if (table?.members.length === cells.length) inTables.push({ page, values: valuesOf(cells, table) });
      else readNamed(line, page, members, named);
    }
  }
  if (inTables.length === 0) return named;
  const ofAll = named.flatMap(({ values }) => [...values]);
  return inTables.map((row) => ({ page: row.page, values: new Map([...ofAll, ...row.values]) }));
}

function readNamed(line: string, page: number, members: readonly RowMember[], rows: FoundRow[]): void {
  const [, name = '', value = ''] = NAMED_VALUE.exec(line) ?? [];
  const member = findMember(name, members);
  if (member === undefined) return;
  const last = rows.at(-1);
  if (last === undefined || last.values.has(member.key))
    rows.push({ page, values: new Map([[member.key, value.trim()]]) });
  else last.values.set(member.key, value.trim());
}

/** A line that names two members or more, or the only one there is. */
function readHeader(line: string, members: readonly RowMember[]): Table | undefined {
  const least = Math.min(2, members.length);
  for (const delimiter of DELIMITERS) {
    const found = splitCells(line, delimiter).map((cell) => findMember(cell, members));
    const known = found.filter((member) => member !== undefined);
    if (known.length >= least && new Set(known).size === known.length) return { delimiter, members: found };
  }
  return undefined;
}

function findMember(name: string, members: readonly RowMember[]): RowMember | undefined {
  const folded = foldName(name);
  return folded === '' ? undefined : members.find(({ names }) => names.includes(folded));
}

function valuesOf(cells: readonly string[], { members }: Table): Map<string, string> {
  return new Map(
    cells.flatMap((cell, index): [string, string][] => {
      const member = members[index];
      return member === undefined ? [] : [[member.key, cell]];
    }),
  );
}

/** The cells of a line; quotes as in a CSV, the bars at both ends of a Markdown table left out. */
function splitCells(line: string, delimiter: Delimiter): string[] {
  if (typeof delimiter !== 'string') return line.split(delimiter);
  const inner = delimiter === '|' ? line.replace(/^\||\|$/g, '') : line;
  const cells: string[] = [];
  let cell = '';
  let isQuoted = false;
  for (const char of inner) {
    // One that is doubled opens and closes again.
    if (char === '"') isQuoted = !isQuoted;
    if (char === delimiter && !isQuoted) {
      cells.push(cell);
      cell = '';
    } else cell += char;
  }
  return [...cells, cell].map(unquoted);
}

function unquoted(cell: string): string {
  const text = cell.trim();
  return /^".*"$/s.test(text) ? text.slice(1, -1).replaceAll('""', '"') : text;
}
