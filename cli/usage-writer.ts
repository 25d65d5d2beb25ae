import { type JobUsageExport, UsageGroupSum, type UsageReport } from '../contracts/usage-record.ts';
import type { Context } from './command.ts';
import { type Column, table } from './output.ts';

export type UsageRow = UsageReport['data'][number] | JobUsageExport['data'][number];

export const USAGE_GROUPS = UsageGroupSum.shape.group.keyType.options;
/** Made here of pages; every other format is a stream the gateway makes. */
export const PAGED_FORMATS = ['table', 'json'] as const;
export type PagedFormat = (typeof PAGED_FORMATS)[number];

/** Makes the text of records page by page. */
export interface UsageWriter {
  page(rows: readonly UsageRow[]): string;
  end(): string;
}

export function createUsageWriter(format: PagedFormat, context: Pick<Context, 'terminal'>): UsageWriter {
  let written = 0;
  const counted = (make: (rows: readonly UsageRow[]) => string) => (rows: readonly UsageRow[]) => {
    if (rows.length === 0) return '';
    const text = make(rows);
    written += rows.length;
    return text;
  };
  switch (format) {
    case 'table':
      return {
        page: counted((rows) => table(context, columnsFor(rows), rows)),
        end: () => (written === 0 ? 'Nothing has settled.\n' : ''),
      };
    case 'json':
      return {
        page: counted(
          (rows) => `${written === 0 ? '{"data":[' : ','}${rows.map((row) => JSON.stringify(row)).join(',')}`,
        ),
        end: () => (written === 0 ? '{"data":[]}\n' : ']}\n'),
      };
  }
}

/** Groups stand in columns of their own. */
function flat(row: UsageRow): [string, unknown][] {
  return Object.entries(row).flatMap(([name, value]) =>
    name === 'group' && typeof value === 'object' && value !== null ? Object.entries(value) : [[name, value]],
  );
}

/** The members a person looks for; an export has them all. */
const SHOWN = [
  'job_id',
  'kind',
  'day',
  'custom_id',
  'model',
  'status',
  'items',
  'failed',
  'input_tokens',
  'output_tokens',
  'cost',
  'currency',
];
const TEXTS = [...USAGE_GROUPS, 'job_id', 'kind', 'custom_id', 'status', 'currency'];

function columnsFor(rows: readonly UsageRow[]): Column<UsageRow>[] {
  const [first] = rows;
  if (first === undefined) return [];
  const groups = 'group' in first ? Object.keys(first.group) : [];
  const names = [...groups, ...SHOWN.filter((name) => name in first)];
  return names.map((name) => ({
    title: name
      .replace(/_(tokens|id)$/, '')
      .replaceAll('_', ' ')
      .toUpperCase(),
    align: (TEXTS as string[]).includes(name) ? 'left' : 'right',
    maxWidth: 40,
    cell(row) {
      const value = flat(row).find(([member]) => member === name)?.[1];
      return typeof value === 'string' || typeof value === 'number' ? value : null;
    },
  }));
}
