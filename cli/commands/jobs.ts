import { type BatchJob, JobStatus } from '../../contracts/job.ts';
import { CONNECTION_OPTIONS, defineCommand } from '../command.ts';
import { connectTenant } from '../connection.ts';
import { exitCode } from '../exit-codes.ts';
import { settledItems } from '../job-progress.ts';
import { oneOf, readCount, readMetadata } from '../option-values.ts';
import { type Column, count, printJson, table, time } from '../output.ts';
import { statusStyle } from '../progress-view.ts';

const COLUMNS: readonly Column<BatchJob>[] = [
  { title: 'JOB', cell: ({ job_id }) => job_id },
  { title: 'STATUS', cell: ({ status }) => status, style: ({ status }) => statusStyle(status) },
  { title: 'SETTLED', align: 'right', cell: (job) => `${count(settledItems(job))}/${count(job.counts.total)}` },
  { title: 'FAILED', align: 'right', cell: ({ counts }) => counts.failed + counts.expired },
  { title: 'COST', align: 'right', cell: ({ cost }) => `${cost.settled} ${cost.currency}` },
  { title: 'MODEL', cell: ({ model }) => model, maxWidth: 30 },
  { title: 'CREATED', cell: ({ created_at }) => time(created_at) },
  { title: 'NAME', cell: ({ name }) => name, maxWidth: 30 },
];
const MAX_PAGE = 1000;

export const jobsCommand = defineCommand({
  name: 'jobs',
  summary: 'list jobs, newest first',
  arguments: [],
  options: {
    status: { type: 'string', value: 'STATUS', help: `only these: ${JobStatus.options.join(', ')}` },
    model: { type: 'string', value: 'MODEL', help: 'only jobs that asked for this model' },
    metadata: {
      type: 'string',
      multiple: true,
      value: 'KEY=VALUE',
      help: 'only jobs with this label; may be repeated',
    },
    limit: { type: 'string', value: 'N', help: 'at most so many (20)' },
    ...CONNECTION_OPTIONS,
  },
  details: 'With --json each job is one line.',
  examples: ['jobs --status running', 'jobs --metadata team=search --limit 100 --json'],
  async run({ values }, context) {
    const limit = readCount('--limit', values.limit ?? '20', 1);
    const labels = Object.entries(readMetadata(values.metadata)).map(([key, value]) => [`metadata[${key}]`, value]);
    const filter = {
      ...Object.fromEntries(labels),
      status: values.status === undefined ? undefined : oneOf('--status', values.status, JobStatus.options),
      model: values.model,
    };
    const calls = connectTenant(values, context);
    const jobs: BatchJob[] = [];
    for (let cursor: string | null | undefined; cursor !== null && jobs.length < limit; ) {
      const page = await calls.listJobs({ ...filter, cursor, limit: Math.min(MAX_PAGE, limit - jobs.length) });
      jobs.push(...page.data);
      cursor = page.next_cursor;
    }
    if (values.json) for (const job of jobs) printJson(context, job);
    else if (jobs.length === 0) context.terminal.err.write('There is no such job.\n');
    else context.terminal.out.write(table(context, COLUMNS, jobs));
    return exitCode('ok');
  },
});
