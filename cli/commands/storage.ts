import type { JobStorage } from '../../contracts/job-storage.ts';
import { CONNECTION_OPTIONS, defineCommand } from '../command.ts';
import { connectTenant } from '../connection.ts';
import { exitCode } from '../exit-codes.ts';
import { type Column, count, fields, printJson, table, time } from '../output.ts';

const COLUMNS: readonly Column<JobStorage['kept'][number]>[] = [
  { title: 'WHAT', cell: ({ kind }) => kind.replace('_', ' ') },
  { title: 'HELD BY', cell: ({ held_by }) => held_by },
  { title: 'UNTIL', cell: ({ until }) => time(until) },
  { title: 'DELETED', cell: ({ deleted_at }) => time(deleted_at) },
];

export const storageCommand = defineCommand({
  name: 'storage',
  summary: 'show what is kept of a job where, and until when',
  arguments: ['JOB'],
  options: CONNECTION_OPTIONS,
  examples: ['storage job_01j7zb8k3te9aabfm0z0e2d3k4'],
  async run({ values, positionals: [jobId = ''] }, context) {
    const storage = await connectTenant(values, context).storage(jobId);
    if (values.json) printJson(context, storage);
    else {
      const { requests, responses } = storage.hashes;
      const facts = fields(context, [
        ['policy', storage.storage],
        ['results until', time(storage.results_readable_until)],
        ['hashes', `${count(requests)} of requests, ${count(responses)} of responses`],
        ['artifacts', storage.artifact_location],
      ]);
      context.terminal.out.write(`${facts}\n${table(context, COLUMNS, storage.kept)}`);
    }
    return exitCode('ok');
  },
});
