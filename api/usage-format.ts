import { accepts } from 'hono/accepts';
import type { JobUsageQuery } from '../contracts/usage-record.ts';
import { NDJSON_TYPES } from './accepts.ts';
import type { ApiContext } from './env.ts';

export type UsageFormat = NonNullable<JobUsageQuery['format']>;

const CSV = 'text/csv';

/** The format that was named, else the one the caller accepts best. FOCUS has no media type: it is named or not had. */
export function usageFormat(c: ApiContext, named: UsageFormat | undefined): UsageFormat {
  if (named !== undefined) return named;
  const supports = ['application/json', ...NDJSON_TYPES, CSV];
  const chosen = accepts(c, { header: 'Accept', supports, default: 'application/json' });
  if (chosen === CSV) return 'csv';
  return chosen === 'application/json' ? 'json' : 'ndjson';
}

/** Headers of a stream; `name` is the file's, without its ending. */
export function streamHeaders(format: Exclude<UsageFormat, 'json'>, name: string): Record<string, string> {
  if (format === 'ndjson') return { 'Content-Type': 'application/x-ndjson' };
  return {
    'Content-Type': `${CSV}; charset=utf-8; header=present`,
    'Content-Disposition': `attachment; filename="${name}${format === 'focus' ? '-focus' : ''}.csv"`,
  };
}
