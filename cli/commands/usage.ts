import { JobUsageQuery } from '../../contracts/usage-record.ts';
import { CONNECTION_OPTIONS, defineCommand, type OptionValues } from '../command.ts';
import { connectTenant } from '../connection.ts';
import { usageError } from '../errors.ts';
import { exitCode } from '../exit-codes.ts';
import type { TenantCalls } from '../gateway.ts';
import { oneOf } from '../option-values.ts';
import { createUsageWriter, USAGE_FORMATS, USAGE_GROUPS, type UsageRow } from '../usage-writer.ts';

const LEVELS = JobUsageQuery.shape.level.unwrap().options;
const OPTIONS = {
  level: { type: 'string', value: 'LEVEL', help: `of one job: ${LEVELS.join(' or ')}` },
  format: { type: 'string', value: 'FORMAT', help: `${USAGE_FORMATS.join(', ')}; --json is ndjson` },
  from: {
    type: 'string',
    value: 'TIME',
    help: 'of all jobs: settled at or after, such as 2026-08-01 or 2026-08-01T00:00:00Z',
  },
  to: { type: 'string', value: 'TIME', help: 'of all jobs: settled before' },
  'group-by': {
    type: 'string',
    value: 'NAMES',
    help: `of all jobs: sums by ${USAGE_GROUPS.join(', ')}; parted by commas`,
  },
  ...CONNECTION_OPTIONS,
} as const;
const PAGE_SIZE = 1000;

export const usageCommand = defineCommand({
  name: 'usage',
  summary: 'show or export tokens and cost, of one job or of all',
  arguments: ['[JOB]'],
  options: OPTIONS,
  examples: [
    'usage --from 2026-08-01 --to 2026-09-01 --group-by customer,model',
    'usage job_01j7zb8k3te9aabfm0z0e2d3k4',
    'usage job_01j7zb8k3te9aabfm0z0e2d3k4 --level item --format csv > usage.csv',
  ],
  async run({ values, positionals: [jobId] }, context) {
    const format = oneOf('--format', values.format ?? (values.json ? 'ndjson' : 'table'), USAGE_FORMATS);
    refuseMisplaced(values, jobId);
    const level = oneOf('--level', values.level ?? 'job', LEVELS);
    const report = {
      from: readTime('--from', values.from),
      to: readTime('--to', values.to),
      group_by: values['group-by'],
    };
    const calls = connectTenant(values, context);
    if (jobId !== undefined && (format === 'csv' || format === 'ndjson')) {
      const decoder = new TextDecoder();
      for await (const chunk of calls.streamUsage(jobId, { level, format })) {
        context.terminal.out.write(decoder.decode(chunk, { stream: true }));
      }
      return exitCode('ok');
    }
    const pages = jobId === undefined ? reportPages(calls, report) : jobPages(calls, jobId, level);
    const writer = createUsageWriter(format, context);
    for await (const page of pages) context.terminal.out.write(writer.page(page));
    context.terminal.out.write(writer.end());
    return exitCode('ok');
  },
});

function refuseMisplaced(values: OptionValues<typeof OPTIONS>, jobId: string | undefined): void {
  const misplaced = jobId === undefined ? (['level'] as const) : (['from', 'to', 'group-by'] as const);
  const wrong = misplaced.find((name) => values[name] !== undefined);
  if (wrong === undefined) return;
  const scope = jobId === undefined ? 'one job: name it' : 'all jobs: name none';
  throw usageError(`--${wrong} is for the usage of ${scope}.`, `--${wrong}`);
}

/** A day is its first moment in UTC. */
function readTime(option: string, given: string | undefined): string | undefined {
  if (given === undefined) return undefined;
  const text = /^\d{4}-\d{2}-\d{2}$/.test(given) ? `${given}T00:00:00Z` : given;
  if (/^\d{4}-\d{2}-\d{2}T\S+(Z|[+-]\d{2}:\d{2})$/.test(text) && !Number.isNaN(Date.parse(text))) return text;
  throw usageError(`${option} must be a day such as 2026-08-01 or a time such as 2026-08-01T00:00:00Z.`, option);
}

async function* reportPages(
  calls: TenantCalls,
  query: { readonly [name: string]: string | undefined },
): AsyncGenerator<readonly UsageRow[]> {
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await calls.reportUsage({ ...query, cursor, limit: PAGE_SIZE });
    yield page.data;
    cursor = page.next_cursor;
  }
}

/** The cursor of a job that still runs never ends: an empty page does. */
async function* jobPages(calls: TenantCalls, jobId: string, level: string): AsyncGenerator<readonly UsageRow[]> {
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await calls.exportUsage(jobId, { level, format: 'json', cursor, limit: PAGE_SIZE });
    if (page.data.length === 0) return;
    yield page.data;
    cursor = page.next_cursor;
  }
}
