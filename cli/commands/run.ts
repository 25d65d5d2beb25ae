import { basename } from 'node:path';
import { CreateJob } from '../../contracts/create-job.ts';
import { CONNECTION_OPTIONS, type Context, defineCommand, type OptionValues } from '../command.ts';
import { connectTenant } from '../connection.ts';
import { CommandError, inputError, usageError } from '../errors.ts';
import { exitCode } from '../exit-codes.ts';
import { describeValidation } from '../findings.ts';
import { followJob } from '../follow-job.ts';
import type { TenantCalls } from '../gateway.ts';
import { type Interrupts, listenForInterrupts } from '../interrupts.ts';
import { oneOf, readCount, readEndpoint, readMetadata, readMoney, readSample, readTime } from '../option-values.ts';
import { count, plural, printJson } from '../output.ts';
import { openResultSink } from '../results/result-file.ts';
import { type ItemPlan, planItems } from '../rows/item-plan.ts';
import { manifestLines } from '../rows/manifest.ts';
import { sharedRequest } from '../rows/request-shape.ts';
import type { Row } from '../rows/row.ts';
import { openRowFile, type RowFile } from '../rows/row-file.ts';
import { parseTemplate } from '../rows/template.ts';
import { makeDraft, submitNewDraft } from '../submit-file.ts';

const STORAGE_LEVELS = CreateJob.shape.storage.unwrap().options;

const OPTIONS = {
  model: { type: 'string', value: 'MODEL', help: 'an alias such as analysis-small, or provider/model' },
  template: { type: 'string', value: 'TEXT', help: 'what to ask of each row, with {{column}} where a value belongs' },
  system: { type: 'string', value: 'TEXT', help: 'a system prompt for all rows, sent once' },
  'id-column': { type: 'string', value: 'NAME', help: 'the column that holds custom_id (row_000001, row_000002, …)' },
  endpoint: { type: 'string', value: 'NAME', help: 'chat.completions unless said, or embeddings, moderations, …' },
  'max-tokens': { type: 'string', value: 'N', help: 'the longest reply, in tokens' },
  out: {
    type: 'string',
    value: 'FILE',
    help: 'write results there as they arrive, one JSON line an item; - is standard output',
  },
  name: { type: 'string', value: 'TEXT', help: "the job's name (that of the file)" },
  metadata: { type: 'string', multiple: true, value: 'KEY=VALUE', help: 'a label of the job; may be repeated' },
  'max-cost': { type: 'string', value: 'AMOUNT', help: 'refuse the job if it might cost more, such as 5.00' },
  storage: {
    type: 'string',
    value: 'LEVEL',
    help: `what is kept of it: ${STORAGE_LEVELS.join(', ')}; at least as strict as the tenant's policy`,
  },
  deadline: { type: 'string', value: 'TIME', help: 'cut off what has not ended by then, such as 2026-08-20T06:00:00Z' },
  'not-before': { type: 'string', value: 'TIME', help: 'send nothing to a provider before then' },
  sample: { type: 'string', value: 'N', help: 'run N of the items first, to see replies and what all would cost' },
  watch: { type: 'boolean', help: 'follow the job live (default); --no-watch returns once it is submitted' },
  'validate-only': { type: 'boolean', help: 'tell what a submit would say and cost, and leave nothing behind' },
  ...CONNECTION_OPTIONS,
} as const;

type Values = OptionValues<typeof OPTIONS>;

export const runCommand = defineCommand({
  name: 'run',
  summary: 'make a job of a file, submit it, follow it and fetch the results',
  arguments: ['FILE'],
  options: OPTIONS,
  details:
    'FILE is CSV, TSV or JSON Lines (- is standard input) and is read as it is sent, whatever its size.\n' +
    'Rows become requests by --template. Lines of an OpenAI batch file ({custom_id, method, url, body}) and items of our own ' +
    '({custom_id, request}) are recognised and sent as they are; --model then replaces the model of each OpenAI line, and is ' +
    'the model of those items that name none.\n' +
    'A line of results is {custom_id, status, text, error, result, usage, cost, …}, in the order of settlement: join it to ' +
    'the input by custom_id. The file appears whole when the job has ended.\n' +
    'With --sample the file stays a draft: "submit JOB" runs all of it, "status JOB" shows its samples.\n' +
    'Ctrl-C says how to cancel; a second one leaves, and the job goes on.',
  examples: [
    'run questions.jsonl --template "{{question}}" --model analysis-small --out answers.jsonl',
    'run tickets.csv --template "Classify: {{subject}} {{body}}" --system "Answer with one word." --id-column id --model analysis-small',
    'run openai-batch.jsonl --out results.jsonl',
    'run texts.csv --template "{{text}}" --endpoint embeddings --model embedding-small --no-watch',
    'run tickets.csv --template "{{body}}" --model analysis-large --validate-only',
    'run tickets.csv --template "{{body}}" --model analysis-large --sample 20 --out sample.jsonl',
  ],
  async run({ values, positionals: [path = '-'] }, context) {
    if (values.out !== undefined && (values.watch === false || values['validate-only'])) {
      throw usageError(
        '--out needs the job to be followed. Fetch the results later with "results JOB --out FILE".',
        '--out',
      );
    }
    const calls = connectTenant(values, context);
    const input = await openInput(path, values, context);
    const interrupts = listenForInterrupts(context.signals);
    try {
      return await submitInput(input, values, calls, interrupts, context);
    } finally {
      interrupts.stopListening();
    }
  },
});

interface Input {
  readonly file: RowFile;
  readonly plan: ItemPlan;
  readonly job: CreateJob;
  /** How many items to run first; undefined to run all. */
  readonly sample: number | undefined;
}

/** Everything that can be told to be wrong before anything is sent. */
async function openInput(path: string, values: Values, { standardInput }: Context): Promise<Input> {
  const template = values.template === undefined ? undefined : parseTemplate(values.template);
  const endpoint = readEndpoint(values.endpoint);
  const metadata = readMetadata(values.metadata);
  const maxTokens = values['max-tokens'] === undefined ? undefined : readCount('--max-tokens', values['max-tokens'], 1);
  const maxCost = values['max-cost'] === undefined ? undefined : readMoney('--max-cost', values['max-cost']);
  const execution = {
    ...readTime('deadline', '--deadline', values.deadline),
    ...readTime('not_before', '--not-before', values['not-before']),
  };
  const sample = readSample(values.sample);
  const storage = values.storage === undefined ? undefined : oneOf('--storage', values.storage, STORAGE_LEVELS);
  const file = await openRowFile(path, standardInput);
  if (file.first === null) throw inputError(file.file, null, 'there is no row in it');
  const choices = { endpoint, model: values.model, template, idColumn: values['id-column'] };
  const plan = planItems(file.first, file.file, choices);
  const defaults = sharedRequest(plan.endpoint, { system: values.system, maxTokens });
  const name = values.name ?? (path === '-' ? undefined : basename(path));
  const job: CreateJob = {
    endpoint: plan.endpoint,
    model: plan.model,
    ...(name !== undefined && CreateJob.shape.name.safeParse(name).success && { name }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
    ...(defaults !== undefined && { request_defaults: defaults }),
    ...(maxCost !== undefined && { max_cost: maxCost }),
    ...(storage !== undefined && { storage }),
    ...(Object.keys(execution).length > 0 && { execution }),
  };
  return { file, plan, job, sample };
}

async function submitInput(
  { file, plan, job: wanted, sample }: Input,
  values: Values,
  calls: TenantCalls,
  interrupts: Interrupts,
  context: Context,
): Promise<number> {
  const asJson = values.json === true;
  const sink = values.out === undefined ? null : await openResultSink(values.out, context.terminal.out);
  try {
    const upload = uploadProgress(context, asJson);
    const rows = untilInterrupted(file.rows, interrupts.signal);
    const draft = await makeDraft(calls, wanted, manifestLines(rows, plan, upload.show)).finally(upload.finish);
    const jobId = draft.job.job_id;
    if (values['validate-only']) return await validateOnly(calls, jobId, asJson, context);
    const job = await submitNewDraft(calls, jobId, context.program, sample);
    const { job_id: submittedId } = job;
    if (values.watch !== false)
      return await followJob({ calls, jobId: submittedId, interrupts, sink, asJson }, context);
    const items = sample === undefined ? draft.items : job.counts.total;
    if (asJson) printJson(context, job);
    else context.terminal.out.write(`${submittedId} is submitted with ${plural(items, 'item')}.\n`);
    return exitCode('ok');
  } catch (error) {
    await sink?.discard();
    throw error;
  }
}

async function validateOnly(calls: TenantCalls, jobId: string, asJson: boolean, context: Context): Promise<number> {
  try {
    const validation = await calls.validate(jobId);
    if (asJson) printJson(context, validation);
    else context.terminal.out.write(describeValidation(validation, context));
    return exitCode(validation.ok ? 'ok' : 'unsuccessful');
  } finally {
    await calls.deleteJob(jobId);
  }
}

async function* untilInterrupted(rows: AsyncIterable<Row>, signal: AbortSignal): AsyncGenerator<Row> {
  for await (const row of rows) {
    if (signal.aborted) throw INTERRUPTED;
    yield row;
  }
}

const INTERRUPTED = new CommandError('interrupted', {
  error: 'interrupted',
  message: 'Interrupted before the job was submitted; nothing is left of it.',
});

const SHOW_EVERY = 5_000;

function uploadProgress({ terminal: { err } }: Context, asJson: boolean) {
  let shown = false;
  return {
    show(items: number) {
      if (asJson || err.isTTY !== true || items % SHOW_EVERY !== 0) return;
      shown = true;
      err.write(`\r\x1b[K${count(items)} items sent`);
    },
    finish() {
      if (shown) err.write('\r\x1b[K');
    },
  };
}
