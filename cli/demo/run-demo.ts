import type { BatchJob } from '../../contracts/job.ts';
import type { StackReady } from '../../local/stack-options.ts';
import { Client } from '../client.ts';
import type { Context } from '../command.ts';
import { CommandError } from '../errors.ts';
import { exitCode } from '../exit-codes.ts';
import { type OperatorCalls, operatorCalls, type TenantCalls, tenantCalls } from '../gateway.ts';
import { hasEnded } from '../job-progress.ts';
import { describeEnd } from '../job-summary.ts';
import { createLiveView, SILENT_VIEW } from '../live-view.ts';
import { count, fields, plural, printJson } from '../output.ts';
import { ResultReader } from '../results/result-reader.ts';
import { describeStack } from '../stack-summary.ts';
import { makeDraft } from '../submit-file.ts';
import { VERSION } from '../version.ts';
import { watchJob } from '../watch-job.ts';
import { AnswerTally } from './ticket-answers.ts';
import { ticketJob, ticketLines } from './ticket-job.ts';
import { makeTickets } from './tickets.ts';

export interface Demo {
  readonly ready: StackReady;
  /** Tells that the stack is to stop. */
  readonly signal: AbortSignal;
  readonly items: number;
  readonly asJson: boolean;
  /** What further commands need to find the stack, with a space before it. */
  readonly dataOption: string;
  /** What becomes of the stack, said at the end. */
  readonly whatIsNext: string;
}

/** Submits the tickets to a stack, shows the job until it has ended and what came of it; returns the exit code. */
export async function runDemo(demo: Demo, context: Context): Promise<number> {
  const { ready, asJson } = demo;
  const { out, err, paint } = context.terminal;
  const calls = tenantCalls(connect(ready, ready.tenant_key, context));
  const operator = operatorCalls(connect(ready, ready.operator_key, context));
  if (!asJson) out.write(`\n${paint('bold', 'Batchgate is ready.')}\n\n${describeStack(ready, context)}\n`);

  const job = await submitTickets(demo, calls);
  if (!asJson) out.write(`${job.job_id} is submitted: ${plural(demo.items, 'support ticket')} to classify.\n\n`);
  const view = asJson && err.isTTY !== true ? SILENT_VIEW : createLiveView(context);
  const ended = await watchJob({ calls, jobId: job.job_id, view, signal: demo.signal }, context);
  if (ended.refusal !== null && ended.status === 'draft') throw new CommandError('refused', ended.refusal);
  if (!hasEnded(ended)) return exitCode('interrupted');

  if (asJson) printJson(context, { ...ready, job: ended });
  else out.write(await describeOutcome(demo, ended, { calls, operator }, context));
  return exitCode(ended.status === 'completed' ? 'ok' : 'unsuccessful');
}

async function submitTickets({ ready, items }: Demo, calls: TenantCalls): Promise<BatchJob> {
  const lines = ticketLines(makeTickets(items), ready.simulators.openai_url !== null);
  const draft = await makeDraft(calls, ticketJob(items), lines);
  return await calls.submit(draft.job.job_id);
}

async function describeOutcome(
  demo: Demo,
  job: BatchJob,
  { calls, operator }: { readonly calls: TenantCalls; readonly operator: OperatorCalls },
  context: Context,
): Promise<string> {
  const tally = new AnswerTally();
  const reader = new ResultReader(calls, job.job_id, { status: 'completed' });
  for await (const rows of reader.newPages()) for (const row of rows) tally.add(row);
  const { workflow } = await operator.getJob(job.job_id);
  const verification = await operator.verifyLedger(job.job_id);
  const { program, terminal } = context;
  const data = demo.dataOption;
  const categories = tally.byCategory().map(({ category, tickets }) => `${count(tickets)} ${category}`);
  const facts = fields(context, [
    ['answers', categories.join(', ')],
    ['urgent', count(tally.highUrgency)],
    ['unreadable', tally.unread === 0 ? null : count(tally.unread)],
    ['money', `${job.cost.reserved} ${job.cost.currency} held, ${job.cost.settled} settled, the rest given back`],
    [
      'ledger',
      verification.ok ? `${plural(verification.items, 'charge')} computed again: all add up` : 'does not add up',
    ],
  ]);
  const where = fields(context, [
    ['results', `${program} results ${job.job_id} --out results.jsonl${data}`],
    ['one item', `${program} items ${job.job_id} ticket_000001${data}`],
    ['ledger', `${program} ledger ${job.job_id}${data}`],
    ['workflow', workflow.url],
    ['API reference', `${demo.ready.api_url}/docs`],
  ]);
  return `\n${describeEnd(job, context)}${facts}\n${terminal.paint('bold', 'Where to look')}\n${where}\n${demo.whatIsNext}\n`;
}

function connect(ready: StackReady, key: string, { fetch, sleep }: Context): Client {
  const unreachableFix = 'The end of logs/api.log in the data folder may tell why.';
  return new Client({ url: ready.api_url, key, fetch, sleep, unreachableFix, userAgent: `batchgate-cli/${VERSION}` });
}
