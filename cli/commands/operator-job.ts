import type { OperatorJob } from '../../contracts/operator-job.ts';
import { defineCommand, OPERATOR_OPTIONS } from '../command.ts';
import { connectOperator } from '../connection.ts';
import { exitCode } from '../exit-codes.ts';
import { type Column, printJson, table, time } from '../output.ts';

type Shard = OperatorJob['shards'][number];
type Candidate = NonNullable<Shard['batches'][number]['candidates']>[number] & { readonly shard: number };

const SHARDS: readonly Column<Shard>[] = [
  { title: 'SHARD', align: 'right', cell: ({ shard }) => String(shard) },
  { title: 'STATE', cell: ({ state, given_up_at: givenUp }) => (givenUp === null ? state : `${state} (given up)`) },
  { title: 'ITEMS', align: 'right', cell: ({ item_count: items }) => String(items) },
  { title: 'WAITS FOR', cell: ({ waiting }) => waiting?.reason ?? '' },
  { title: 'SINCE', cell: ({ waiting }) => time(waiting?.since ?? null) },
  { title: 'NEXT LOOK', cell: ({ next_poll_at: next }) => time(next) },
  { title: 'NATIVE STATUS', cell: ({ batches }) => batches.at(-1)?.native_status ?? '' },
  { title: 'PROVIDER BATCH', cell: ({ batches }) => batches.at(-1)?.provider_batch_id ?? '' },
];
const CANDIDATES: readonly Column<Candidate>[] = [
  { title: 'CANDIDATE OF', align: 'right', cell: ({ shard }) => String(shard) },
  { title: 'PROVIDER BATCH', cell: ({ provider_batch_id: id }) => id },
  { title: 'NATIVE STATUS', cell: ({ native_status: status }) => status },
  { title: 'CREATED', cell: ({ created_at: at }) => time(at) },
  { title: 'COUNTS', cell: ({ native_request_counts: counts }) => JSON.stringify(counts) },
];
const ACTS: readonly Column<OperatorJob['acts'][number]>[] = [
  { title: 'ACT', cell: ({ act }) => act },
  { title: 'AT', cell: ({ at }) => time(at) },
  { title: 'SHARD', align: 'right', cell: ({ shard }) => (shard === null ? '' : String(shard)) },
  { title: 'BY', cell: ({ actor }) => actor },
  { title: 'WHY', cell: ({ reason }) => reason ?? '' },
  { title: 'DETAILS', cell: ({ details }) => JSON.stringify(details) },
];

export const operatorJobCommand = defineCommand({
  name: 'operator job',
  summary: 'show a job as its providers know it, and what was done to it by hand',
  arguments: ['JOB'],
  options: OPERATOR_OPTIONS,
  details: 'With --json all of it: every attempt, native counts and errors, file ids, unmatched lines.',
  examples: ['operator job job_01j7zb8k3te9aabfm0z0e2d3k4'],
  async run({ values, positionals: [jobId = ''] }, context) {
    const view = await connectOperator(values, context).getJob(jobId);
    if (values.json) {
      printJson(context, view);
      return exitCode('ok');
    }
    const { out } = context.terminal;
    const { job, workflow, shards, acts } = view;
    out.write(`${job.job_id} of ${job.tenant_id} is ${job.status}; ${workflow.url ?? workflow.workflow_id}\n`);
    if (shards.length > 0) out.write(`\n${table(context, SHARDS, shards)}`);
    for (const error of shards.flatMap(errorsOf)) out.write(`${error}\n`);
    const candidates = shards.flatMap(candidatesOf);
    if (candidates.length > 0) out.write(`\n${table(context, CANDIDATES, candidates)}`);
    if (acts.length > 0) out.write(`\n${table(context, ACTS, acts)}`);
    return exitCode('ok');
  },
});

/** What the provider last said was wrong, in its own words. */
function errorsOf({ shard, batches }: Shard): string[] {
  const errors = batches.at(-1)?.native_errors;
  return Array.isArray(errors) ? errors.map((error) => `shard ${shard}: ${JSON.stringify(error)}`) : [];
}

function candidatesOf({ shard, batches }: Shard): Candidate[] {
  return (batches.at(-1)?.candidates ?? []).map((candidate) => ({ ...candidate, shard }));
}
