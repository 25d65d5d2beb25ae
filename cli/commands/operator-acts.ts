import type { OperatorActTaken } from '../../contracts/operator-act.ts';
import { type Context, defineCommand, OPERATOR_OPTIONS } from '../command.ts';
import { connectOperator } from '../connection.ts';
import { usageError } from '../errors.ts';
import { exitCode } from '../exit-codes.ts';
import { printJson } from '../output.ts';

const JOB = 'job_01j7zb8k3te9aabfm0z0e2d3k4';
const SHARD = { type: 'string', value: 'N', help: 'the shard; else all that it can be done to' } as const;
const REASON = { type: 'string', value: 'TEXT', help: 'why, for whoever looks later; needed' } as const;

export const operatorCancelCommand = defineCommand({
  name: 'operator cancel',
  summary: 'ask for any tenant’s job to be cancelled',
  arguments: ['JOB'],
  options: { reason: REASON, ...OPERATOR_OPTIONS },
  examples: [`operator cancel ${JOB} --reason "asked on the phone"`],
  async run({ values, positionals: [jobId = ''] }, context) {
    const job = await connectOperator(values, context).cancel(jobId, needed(values.reason, 'cancel'));
    if (values.json) printJson(context, job);
    else context.terminal.out.write(`${jobId} is ${job.status}.\n`);
    return exitCode('ok');
  },
});

export const operatorGiveUpCommand = defineCommand({
  name: 'operator give-up',
  summary: 'stop waiting for a shard, whatever it waits for',
  arguments: ['JOB'],
  options: { shard: SHARD, reason: REASON, ...OPERATOR_OPTIONS },
  details:
    'For good: what was read of its results is kept and charged, its other items end as given_up. The provider is asked ' +
    'once to cancel, and may bill what had run.',
  examples: [`operator give-up ${JOB} --shard 2 --reason "results are gone"`],
  async run({ values, positionals: [jobId = ''] }, context) {
    const reason = needed(values.reason, 'give-up');
    const taken = await connectOperator(values, context).giveUp(jobId, { ...shardOf(values.shard), reason });
    return show(context, values.json === true, taken, 'given up');
  },
});

export const operatorReIngestCommand = defineCommand({
  name: 'operator re-ingest',
  summary: 'read the results of batches again',
  arguments: ['JOB'],
  options: { shard: SHARD, reason: { ...REASON, help: 'why, for whoever looks later' }, ...OPERATOR_OPTIONS },
  details: 'Of settled shards no outcome and no charge changes: what is new goes to the unmatched lines.',
  examples: [`operator re-ingest ${JOB} --shard 2`],
  async run({ values, positionals: [jobId = ''] }, context) {
    const { reason } = values;
    const wish = { ...shardOf(values.shard), ...(reason !== undefined && { reason }) };
    return show(
      context,
      values.json === true,
      await connectOperator(values, context).reIngest(jobId, wish),
      'read again',
    );
  },
});

export const operatorResolveCommand = defineCommand({
  name: 'operator resolve',
  summary: 'say which batch is that of an unanswered create',
  arguments: ['JOB'],
  options: {
    shard: { ...SHARD, help: 'the shard that is indeterminate; needed' },
    batch: { type: 'string', value: 'ID', help: 'the candidate that is its batch' },
    none: { type: 'boolean', help: 'no candidate is: a new batch may be made' },
    reason: REASON,
    ...OPERATOR_OPTIONS,
  },
  examples: [
    `operator resolve ${JOB} --shard 1 --batch msgbatch_013Zva2CMHLNnXjNJJKqJ2EF --reason "made at that second"`,
    `operator resolve ${JOB} --shard 1 --none --reason "both are of another program"`,
  ],
  async run({ values, positionals: [jobId = ''] }, context) {
    const { batch, none } = values;
    const { shard } = shardOf(values.shard);
    if (shard === undefined) throw usageError('operator resolve needs --shard.', '--shard');
    if ((batch === undefined) === (none === undefined))
      throw usageError('operator resolve needs either --batch or --none.', '--batch');
    const answer = batch === undefined ? { none: true as const } : { provider_batch_id: batch };
    const wish = { shard, ...answer, reason: needed(values.reason, 'resolve') };
    return show(context, values.json === true, await connectOperator(values, context).resolve(jobId, wish), 'resolved');
  },
});

function needed(reason: string | undefined, act: string): string {
  if (reason === undefined) throw usageError(`operator ${act} needs --reason.`, '--reason');
  return reason;
}

function shardOf(text: string | undefined): { shard?: number } {
  if (text === undefined) return {};
  if (!/^[1-9]\d{0,8}$/.test(text)) throw usageError('--shard is the number of a shard.', '--shard');
  return { shard: Number(text) };
}

function show(context: Context, json: boolean, taken: OperatorActTaken, what: string): number {
  const { out, err } = context.terminal;
  if (json) printJson(context, taken);
  else {
    const { job_id: jobId, shards } = taken;
    out.write(`${jobId}: ${shards.length === 1 ? 'shard' : 'shards'} ${shards.join(', ')} to be ${what}.\n`);
    if (!taken.signalled)
      err.write('Temporal could not be told: repeat this, or wait until the shards look by themselves.\n');
  }
  return exitCode('ok');
}
