import { JobUsageQuery, UsageQuery } from '../../contracts/usage-record.ts';
import { CONNECTION_OPTIONS, type Context, defineCommand, type OptionValues } from '../command.ts';
import { connectTenant } from '../connection.ts';
import { usageError } from '../errors.ts';
import { exitCode } from '../exit-codes.ts';
import type { TenantCalls } from '../gateway.ts';
import { oneOf } from '../option-values.ts';
import { openResultSink, type ResultSink } from '../results/result-file.ts';
import { createUsageWriter, PAGED_FORMATS, type PagedFormat, USAGE_GROUPS, type UsageRow } from '../usage-writer.ts';

const LEVELS = JobUsageQuery.shape.level.unwrap().options;
const JOB_KINDS = UsageQuery.shape.job_kind.unwrap().options;
const FORMATS = ['table', ...JobUsageQuery.shape.format.unwrap().options] as const;
const OPTIONS = {
  level: { type: 'string', value: 'LEVEL', help: `records of each ${LEVELS.join(' or each ')}` },
  format: { type: 'string', value: 'FORMAT', help: `${FORMATS.join(', ')}; --json is ndjson` },
  out: { type: 'string', value: 'FILE', help: 'a file, which appears whole; else standard output' },
  from: {
    type: 'string',
    value: 'TIME',
    help: 'of all jobs: settled at or after, such as 2026-08-01 or 2026-08-01T00:00:00Z',
  },
  to: { type: 'string', value: 'TIME', help: 'of all jobs: settled before' },
  since: {
    type: 'string',
    value: 'MARK',
    help: 'of all jobs: only what was written after the last read; "start" at first, then the mark it ended with',
  },
  'job-kind': { type: 'string', value: 'KIND', help: `of all jobs: only ${JOB_KINDS.join(', ')}` },
  'group-by': {
    type: 'string',
    value: 'NAMES',
    help: `of all jobs: sums by ${USAGE_GROUPS.join(', ')}; parted by commas`,
  },
  ...CONNECTION_OPTIONS,
} as const;
const OF_ALL_JOBS = ['from', 'to', 'since', 'job-kind', 'group-by'] as const;
const PAGE_SIZE = 1000;

type Query = { readonly [name: string]: string | undefined };

export const usageCommand = defineCommand({
  name: 'usage',
  summary: 'show or export tokens and cost, of one job or of all',
  arguments: ['[JOB]'],
  options: OPTIONS,
  details:
    'csv, ndjson and focus come from the gateway as one stream, however many records there are. A record has the same ' +
    'record_id in every export; of two with one id the higher version counts. With --since the mark for the next read is ' +
    'told at the end.',
  examples: [
    'usage --from 2026-08-01 --to 2026-09-01 --group-by customer,model',
    'usage job_01j7zb8k3te9aabfm0z0e2d3k4',
    'usage job_01j7zb8k3te9aabfm0z0e2d3k4 --level item --format csv --out usage.csv',
    'usage --format focus --from 2026-08-01 --to 2026-09-01 --out focus.csv',
    'usage --since start --level item --format ndjson --out usage.ndjson',
  ],
  async run({ values, positionals: [jobId] }, context) {
    const format = oneOf('--format', values.format ?? (values.json ? 'ndjson' : 'table'), FORMATS);
    refuseMisplaced(values, jobId);
    const query = {
      level: values.level === undefined ? undefined : oneOf('--level', values.level, LEVELS),
      from: readTime('--from', values.from),
      to: readTime('--to', values.to),
      since: values.since,
      job_kind: values['job-kind'] === undefined ? undefined : oneOf('--job-kind', values['job-kind'], JOB_KINDS),
      group_by: values['group-by'],
    };
    const calls = connectTenant(values, context);
    const sink = await openResultSink(values.out ?? '-', context.terminal.out);
    try {
      const paged = PAGED_FORMATS.find((each) => each === format);
      const mark =
        paged === undefined
          ? await copyStream(sink, calls, jobId, { ...query, format })
          : await copyPages(sink, calls, jobId, query, paged, context);
      await sink.finish();
      if (mark !== null) context.terminal.err.write(`next read: --since ${mark}\n`);
    } catch (error) {
      await sink.discard();
      throw error;
    }
    return exitCode('ok');
  },
});

/** Answers the mark for the next read, where there is one. */
async function copyStream(
  sink: ResultSink,
  calls: TenantCalls,
  jobId: string | undefined,
  query: Query,
): Promise<string | null> {
  let mark: string | null = null;
  const heed = (headers: Headers) => {
    mark = headers.get('usage-next-since');
  };
  const chunks = jobId === undefined ? calls.streamReport(query, heed) : calls.streamUsage(jobId, query);
  const decoder = new TextDecoder();
  for await (const chunk of chunks) await sink.write(decoder.decode(chunk, { stream: true }));
  return mark;
}

async function copyPages(
  sink: ResultSink,
  calls: TenantCalls,
  jobId: string | undefined,
  query: Query,
  format: PagedFormat,
  context: Context,
): Promise<string | null> {
  const writer = createUsageWriter(format, context);
  let mark: string | null = null;
  const heed = (nextSince: string | null) => {
    mark = nextSince;
  };
  const pages = jobId === undefined ? reportPages(calls, query, heed) : jobPages(calls, jobId, query);
  for await (const page of pages) await sink.write(writer.page(page));
  await sink.write(writer.end());
  return mark;
}

function refuseMisplaced(values: OptionValues<typeof OPTIONS>, jobId: string | undefined): void {
  const wrong = jobId === undefined ? undefined : OF_ALL_JOBS.find((name) => values[name] !== undefined);
  if (wrong !== undefined) throw usageError(`--${wrong} is for the usage of all jobs: name none.`, `--${wrong}`);
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
  query: Query,
  heed: (nextSince: string | null) => void,
): AsyncGenerator<readonly UsageRow[]> {
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await calls.reportUsage({ ...query, format: 'json', cursor, limit: PAGE_SIZE });
    // The mark of the first page: what was written while the others were read belongs to the next read.
    if (cursor === undefined) heed(page.next_since);
    yield page.data;
    cursor = page.next_cursor;
  }
}

/** The cursor of a job that still runs never ends: an empty page does. */
async function* jobPages(calls: TenantCalls, jobId: string, query: Query): AsyncGenerator<readonly UsageRow[]> {
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await calls.exportUsage(jobId, { level: query['level'], format: 'json', cursor, limit: PAGE_SIZE });
    if (page.data.length === 0) return;
    yield page.data;
    cursor = page.next_cursor;
  }
}
