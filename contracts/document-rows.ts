import { z } from 'zod';
import type { DocumentColumn } from '../domain/document.ts';
import type { RowProblem } from '../domain/extraction-request.ts';
import {
  CONFIDENCE_MEMBER,
  type KeyedColumn,
  keyColumns,
  PAGE_MEMBER,
  ROWS_MEMBER,
} from '../domain/extraction-schema.ts';
import { isTextTooDeep } from '../domain/json-depth.ts';
import type { CellValue, LineItem, RowProvenance } from '../domain/line-item.ts';
import { dateOrderOf, readDate } from '../domain/read-date.ts';
import { exactNumber, type Reading, readDecimal, readJsonNumber } from '../domain/read-decimal.ts';

/** A spreadsheet's cell holds 32,767. */
const MAX_TEXT_LENGTH = 32_000;
/** A reply with this many faults is not helped by hearing of more. */
const MAX_PROBLEMS = 20;

const BYTE_ORDER_MARK = /^\ufeff/;
const FENCED_BLOCK = /```(?:json)?[ \t]*\r?\n([\s\S]*?)\r?\n[ \t]*```/g;
/** C0 controls but tab and line ends: no spreadsheet and few databases hold them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g;

const TRUE_WORDS: readonly string[] = ['true', 'yes', '1'];
const FALSE_WORDS: readonly string[] = ['false', 'no', '0'];

export type ReadRows =
  | { readonly ok: true; readonly rows: readonly LineItem[]; readonly provenance: readonly RowProvenance[] }
  | { readonly ok: false; readonly problems: readonly RowProblem[] };

/** A number of the reply as it was written: a double would lose digits. */
class WrittenNumber {
  readonly source: string;
  constructor(source: string) {
    this.source = source;
  }
}

const Written = z.instanceof(WrittenNumber);
const Absent = z.null().or(z.undefined());
const Row = z
  .record(z.string(), z.unknown(), 'must be an object')
  .refine((row) => !(row instanceof WrittenNumber), 'must be an object');
const Page = Written.transform(({ source }) => Number(source))
  .pipe(z.int().min(1))
  .catch(0);
const Confidence = Written.transform(({ source }) => Number(source))
  .pipe(z.number().min(0).max(1))
  .nullable()
  .catch(null);

/**
 * What a model replied, as rows of the columns. The reply is the JSON of extractionSchema, alone or in one fenced block; a
 * list of rows without the object around it will do. Each value is read by the type of its column, unknown members are
 * left out, and what is absent, null or only white space is null. All rows fit, or the problems tell which do not.
 */
export function readDocumentRows(reply: string, columns: readonly DocumentColumn[]): ReadRows {
  const parsed = parseReply(reply);
  if (!parsed.ok) return { ok: false, problems: [{ path: '', reason: parsed.reason }] };
  const list = Array.isArray(parsed.value) ? parsed.value : rowsOf(parsed.value);
  if (list === null)
    return { ok: false, problems: [{ path: '', reason: `must be an object with a list "${ROWS_MEMBER}"` }] };
  const readers = keyColumns(columns).map((column) => ({ column, schema: cellSchema(column) }));
  const problems: RowProblem[] = [];
  const rows: LineItem[] = [];
  const provenance: RowProvenance[] = [];
  for (const [index, entry] of list.entries()) {
    if (problems.length >= MAX_PROBLEMS) break;
    const path = `${ROWS_MEMBER}[${index}]`;
    const row = Row.safeParse(entry);
    if (!row.success) {
      problems.push({ path, reason: 'must be an object' });
      continue;
    }
    const cells = readers.map(({ column, schema }): [string, CellValue] => {
      const cell = schema.safeParse(memberOf(row.data, column));
      if (cell.success) return [column.name, cell.data];
      problems.push({ path: `${path}.${column.key}`, reason: cell.error.issues[0]?.message ?? 'does not fit' });
      return [column.name, null];
    });
    rows.push(Object.fromEntries(cells));
    provenance.push({
      page: Page.parse(row.data[PAGE_MEMBER]) || null,
      confidence: Confidence.parse(row.data[CONFIDENCE_MEMBER]),
    });
  }
  return problems.length > 0
    ? { ok: false, problems: problems.slice(0, MAX_PROBLEMS) }
    : { ok: true, rows, provenance };
}

/** Models without a schema to bind them may use the name itself. */
function memberOf(row: Record<string, unknown>, { key, name }: KeyedColumn): unknown {
  if (Object.hasOwn(row, key)) return row[key];
  return Object.hasOwn(row, name) ? row[name] : undefined;
}

function rowsOf(value: unknown): unknown[] | null {
  const parsed = z.object({ [ROWS_MEMBER]: z.array(z.unknown()) }).safeParse(value);
  return parsed.success ? (parsed.data[ROWS_MEMBER] ?? null) : null;
}

function parseReply(reply: string): Reading<unknown> {
  const text = reply.replace(BYTE_ORDER_MARK, '').trim();
  if (text === '') return { ok: false, reason: 'is empty' };
  const blocks = text.startsWith('{') || text.startsWith('[') ? [] : [...text.matchAll(FENCED_BLOCK)];
  if (blocks.length > 1) return { ok: false, reason: 'must be one JSON object, and has more than one block' };
  const json = blocks[0]?.[1] ?? text;
  if (isTextTooDeep(json)) return { ok: false, reason: 'is nested too deep' };
  try {
    return { ok: true, value: JSON.parse(json, keepNumbers as (name: string, value: unknown) => unknown) };
  } catch {
    return { ok: false, reason: 'is not valid JSON' };
  }
}

function keepNumbers(_name: string, value: unknown, context: { readonly source?: string }): unknown {
  return typeof value === 'number' ? new WrittenNumber(context.source ?? String(value)) : value;
}

/** Reads one value of a column; what it refuses with never quotes the value. */
function cellSchema(column: DocumentColumn): z.ZodType<CellValue> {
  const read = readerOf(column);
  return z.unknown().transform((value, context): CellValue => {
    const text = textOf(value);
    if (text === null) return refuse(context, `must be ${WANTED[column.type]}, not a list or an object`);
    if (text === '') return column.required ? refuse(context, 'is required, and absent or empty') : null;
    const reading = read(text);
    return reading.ok ? reading.value : refuse(context, reading.reason);
  });
}

const WANTED: { readonly [type in DocumentColumn['type']]: string } = {
  text: 'a text',
  number: 'a number',
  date: 'a date',
  boolean: 'true or false',
  currency: 'an amount',
};

function refuse(context: z.core.$RefinementCtx, message: string): never {
  context.addIssue({ code: 'custom', message });
  return z.NEVER;
}

/** The value as a text without what surrounds it; empty where there is none, null for what is no single value. */
function textOf(value: unknown): string | null {
  if (Absent.safeParse(value).success) return '';
  if (value instanceof WrittenNumber) return readJsonNumber(value.source) ?? value.source;
  if (typeof value === 'boolean') return String(value);
  return typeof value === 'string' ? value.toWellFormed().replace(CONTROLS, '').trim() : null;
}

function readerOf({ type, description }: DocumentColumn): (text: string) => Reading<CellValue> {
  switch (type) {
    case 'text':
      return readText;
    case 'number':
      return readNumber;
    case 'currency':
      return readDecimal;
    case 'boolean':
      return readBoolean;
    case 'date': {
      const order = dateOrderOf(description);
      return (text) => readDate(text, order);
    }
  }
}

function readText(text: string): Reading<string> {
  if (text.length <= MAX_TEXT_LENGTH) return { ok: true, value: text };
  return { ok: false, reason: `is longer than ${MAX_TEXT_LENGTH} characters` };
}

function readNumber(text: string): Reading<number> {
  const decimal = readDecimal(text);
  if (!decimal.ok) return decimal;
  const value = exactNumber(decimal.value);
  if (value !== null) return { ok: true, value };
  return {
    ok: false,
    reason: 'has more digits than a JSON number holds exactly; a column of type text or currency would',
  };
}

function readBoolean(text: string): Reading<boolean> {
  const word = text.toLowerCase();
  if (TRUE_WORDS.includes(word)) return { ok: true, value: true };
  return FALSE_WORDS.includes(word) ? { ok: true, value: false } : { ok: false, reason: 'is not true or false' };
}
