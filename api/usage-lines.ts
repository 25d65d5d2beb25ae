import { stringify } from 'csv-stringify/sync';
import { FOCUS_COLUMNS, FOCUS_NUMBERS } from '../contracts/focus-row.ts';
import type { UsageGroupSum } from '../contracts/usage-record.ts';
import type { UsageEntry } from './operations/usage-entries.ts';
import { toFocusRow } from './presentation/focus.ts';

const RECORD = [
  ...['record_id', 'version', 'kind', 'day', 'job_id', 'tenant_id', 'project_id', 'customer_id', 'api_key_id'],
  ...['endpoint', 'provider', 'model', 'price_book_version'],
];
const TOKENS = ['input_tokens', 'cached_input_tokens', 'cache_write_tokens', 'output_tokens', 'reasoning_tokens'];
const MONEY = ['cost', 'upstream_amount', 'customer_amount', 'currency'];
const COUNTS = ['items', 'completed', 'failed', 'expired', 'cancelled'];
const DEADLINES = ['retrieval_deadline', 'provider_deadline', 'deletion_deadline'];
const STORAGE = ['storage', 'raw_input_stored', 'raw_output_stored', 'artifact_location', 'request_body_deleted_at'];
const SUMS = [...COUNTS, ...TOKENS, 'usage_estimated_items', ...MONEY];

/** A column that is new comes last: whoever reads by position reads on. */
const COLUMNS = {
  job: [...RECORD, 'status', ...SUMS, 'first_settled_at', 'last_settled_at', ...DEADLINES, ...STORAGE, 'job_kind'],
  item: [
    ...RECORD,
    'item_id',
    'custom_id',
    'status',
    ...TOKENS,
    'usage_estimated',
    ...MONEY,
    'settled_at',
    'request_hash',
    'response_hash',
    ...DEADLINES,
    ...STORAGE,
    'job_kind',
  ],
} as const;

/** Cells that are numbers by their making, and stay numbers in a spreadsheet also where they are below zero. */
const NUMBERS = [
  'version',
  'cost',
  'upstream_amount',
  'customer_amount',
  ...COUNTS,
  ...TOKENS,
  'usage_estimated_items',
];

/** What a spreadsheet would run as a formula. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;

type Entries = AsyncGenerator<readonly UsageEntry[]>;
type Row = { readonly [column: string]: unknown };

/** The records of an export as text. */
export function usageText(
  pieces: Entries,
  format: 'ndjson' | 'csv' | 'focus',
  level: keyof typeof COLUMNS,
): AsyncGenerator<string> {
  if (format === 'ndjson') return usageNdjson(pieces);
  return format === 'focus' ? usageFocus(pieces) : usageCsv(pieces, level);
}

async function* usageNdjson(pieces: Entries): AsyncGenerator<string> {
  for await (const entries of pieces) yield linesOf(entries.map(({ record }) => record));
}

/** As many cells as the level has members, the header line always. */
async function* usageCsv(pieces: Entries, level: keyof typeof COLUMNS): AsyncGenerator<string> {
  const csv = csvOf(COLUMNS[level], NUMBERS);
  yield csv.header;
  for await (const entries of pieces) yield csv.rows(entries.map(({ record }) => record));
}

/** CSV in the columns of FOCUS, the header line always. */
async function* usageFocus(pieces: Entries): AsyncGenerator<string> {
  const csv = csvOf(FOCUS_COLUMNS, FOCUS_NUMBERS);
  yield csv.header;
  for await (const entries of pieces) yield csv.rows(entries.map(toFocusRow));
}

export async function* groupNdjson(groups: readonly UsageGroupSum[]): AsyncGenerator<string> {
  yield linesOf(groups);
}

/** Groups stand in columns of their own, before the sums. */
export async function* groupCsv(groups: readonly UsageGroupSum[], names: readonly string[]): AsyncGenerator<string> {
  const csv = csvOf([...names, ...SUMS], NUMBERS);
  yield csv.header + csv.rows(groups.map(({ group, ...sums }) => ({ ...group, ...sums })));
}

function linesOf(records: readonly unknown[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join('');
}

/** RFC 4180. Texts that a spreadsheet would run as a formula get an apostrophe in front; numbers are left alone. */
function csvOf(columns: readonly string[], numbers: readonly string[]) {
  const isText = new Map(columns.map((name) => [name, !numbers.includes(name)]));
  const cell = (name: string, value: unknown) =>
    typeof value === 'string' && isText.get(name) === true && FORMULA.test(value) ? `'${value}` : value;
  const options = { record_delimiter: 'windows' as const, cast: { boolean: String } };
  const recordOf = (row: Row) => columns.map((name) => cell(name, row[name]));
  return {
    header: stringify([columns], options),
    rows: (rows: readonly Row[]) => stringify(rows.map(recordOf), options),
  };
}
