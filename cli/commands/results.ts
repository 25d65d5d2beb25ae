import { ResultQuery } from '../../contracts/result-row.ts';
import { CONNECTION_OPTIONS, defineCommand } from '../command.ts';
import { connectTenant } from '../connection.ts';
import { exitCode } from '../exit-codes.ts';
import { type Interrupts, listenForInterrupts } from '../interrupts.ts';
import { oneOf } from '../option-values.ts';
import { plural } from '../output.ts';
import { openResultSink, type ResultSink } from '../results/result-file.ts';
import { resultLine } from '../results/result-line.ts';
import { ResultReader } from '../results/result-reader.ts';

const STATUSES = ResultQuery.shape.status.unwrap().options;
const VIEWS = ResultQuery.shape.view.unwrap().options;
const FOLLOW_EVERY_MS = 1_000;

export const resultsCommand = defineCommand({
  name: 'results',
  summary: 'fetch the results of a job, one JSON line an item',
  arguments: ['JOB'],
  options: {
    out: { type: 'string', value: 'FILE', help: 'a file, which appears whole; else standard output' },
    status: { type: 'string', value: 'STATUS', help: `only items that ended so: ${STATUSES.join(', ')}` },
    view: { type: 'string', value: 'VIEW', help: 'latest: each original once, with the newest outcome of its retries' },
    follow: { type: 'boolean', help: 'go on until the job has ended' },
    ...CONNECTION_OPTIONS,
  },
  details:
    'A line is {custom_id, status, text, error, result, usage, cost, …}; text is there for chat completions. Results come in ' +
    'the order of settlement. A job that still runs gives what has settled so far.',
  examples: [
    'results job_01j7zb8k3te9aabfm0z0e2d3k4 --out results.jsonl',
    'results job_01j7zb8k3te9aabfm0z0e2d3k4 --status failed',
    'results job_01j7zb8k3te9aabfm0z0e2d3k4 --view latest',
    'results job_01j7zb8k3te9aabfm0z0e2d3k4 --follow | jq -r .text',
  ],
  async run({ values, positionals: [jobId = ''] }, context) {
    const status = values.status === undefined ? undefined : oneOf('--status', values.status, STATUSES);
    const view = values.view === undefined ? undefined : oneOf('--view', values.view, VIEWS);
    const reader = new ResultReader(connectTenant(values, context), jobId, { status, view });
    const sink = await openResultSink(values.out ?? '-', context.terminal.out);
    const interrupts = listenForInterrupts(context.signals);
    try {
      let written = await copyNew(reader, sink, interrupts);
      while (values.follow === true && !reader.isOver && !interrupts.signal.aborted) {
        await context.sleep(FOLLOW_EVERY_MS, interrupts.signal);
        written += await copyNew(reader, sink, interrupts);
      }
      if (interrupts.signal.aborted) {
        await sink.discard();
        return exitCode('interrupted');
      }
      await sink.finish();
      if (values.out !== undefined && values.out !== '-' && !values.json) {
        const rest = reader.isOver ? '' : '; the job has not ended';
        context.terminal.err.write(`${plural(written, 'result')} written to ${values.out}${rest}.\n`);
      }
      return exitCode('ok');
    } catch (error) {
      await sink.discard();
      throw error;
    } finally {
      interrupts.stopListening();
    }
  },
});

async function copyNew(reader: ResultReader, sink: ResultSink, { signal }: Interrupts): Promise<number> {
  let copied = 0;
  for await (const rows of reader.newPages()) {
    await sink.write(rows.map(resultLine).join(''));
    copied += rows.length;
    if (signal.aborted) break;
  }
  return copied;
}
