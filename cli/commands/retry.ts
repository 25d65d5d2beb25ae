import { RetryJob } from '../../contracts/retry-job.ts';
import { CONNECTION_OPTIONS, type Context, defineCommand } from '../command.ts';
import { connectTenant } from '../connection.ts';
import { inputError } from '../errors.ts';
import { exitCode } from '../exit-codes.ts';
import { readJsonFile } from '../json-file.ts';
import { oneOf } from '../option-values.ts';
import { plural, printJson } from '../output.ts';

const CLASSES = RetryJob.shape.classes.unwrap().element.options;

const OPTIONS = {
  classes: {
    type: 'string',
    value: 'CLASSES',
    help: `only items that ended so, comma-separated: ${CLASSES.join(', ')}`,
  },
  ids: {
    type: 'string',
    multiple: true,
    value: 'IDS',
    help: 'only these custom ids, comma-separated; may be given again',
  },
  model: { type: 'string', value: 'MODEL', help: 'run them on this alias or provider/model' },
  requests: { type: 'string', value: 'FILE', help: 'corrected requests as JSON, {"custom_id": request, …}' },
  submit: { type: 'boolean', help: 'submit the new job at once; else it is a draft' },
  'acknowledge-safety': { type: 'boolean', help: 'with --ids: also items that were blocked for safety' },
  ...CONNECTION_OPTIONS,
} as const;

export const retryCommand = defineCommand({
  name: 'retry',
  summary: 'retry the failed items of an ended job, in a job of their own',
  arguments: ['JOB'],
  options: OPTIONS,
  details:
    'Completed items are never sent again. An invalid request is retried only with a corrected one (--requests), an item that was ' +
    'blocked for safety only by name and with --acknowledge-safety.',
  examples: [
    'retry job_01j7zb8k3te9aabfm0z0e2d3k4 --submit',
    'retry job_01j7zb8k3te9aabfm0z0e2d3k4 --classes expired,provider_error --model anthropic/claude-haiku-4-5',
    'retry job_01j7zb8k3te9aabfm0z0e2d3k4 --ids row_000017,row_000381 --acknowledge-safety',
  ],
  async run({ values, positionals: [jobId = ''] }, context) {
    const ids = values.ids?.flatMap(readList);
    const requests = values.requests === undefined ? undefined : await readRequests(values.requests, context);
    const job = await connectTenant(values, context).retry(jobId, {
      ...(values.classes !== undefined && {
        classes: readList(values.classes).map((each) => oneOf('--classes', each, CLASSES)),
      }),
      ...(ids !== undefined && { custom_ids: ids }),
      ...(values.model !== undefined && { model: values.model }),
      ...(requests !== undefined && { requests }),
      ...(values.submit === true && { submit: true }),
      ...(values['acknowledge-safety'] === true && { acknowledge_safety: true }),
    });
    if (values.json) printJson(context, job);
    else {
      const { job_id: newJobId, status, counts } = job;
      const next = status === 'draft' ? `submit it with "${context.program} submit ${newJobId}"` : `it is ${status}`;
      context.terminal.out.write(`${newJobId} retries ${plural(counts.total, 'item')} of ${jobId}; ${next}.\n`);
    }
    return exitCode('ok');
  },
});

function readList(given: string): string[] {
  return given
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
}

async function readRequests(path: string, context: Context): Promise<NonNullable<RetryJob['requests']>> {
  const parsed = RetryJob.shape.requests.unwrap().safeParse(await readJsonFile(path, context));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw inputError(
    path,
    null,
    `${issue?.path.map(String).join('.') || 'the file'}: ${issue?.message ?? 'not requests by custom id'}`,
  );
}
