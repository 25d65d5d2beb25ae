import type { BatchJob } from '../../contracts/job.ts';
import type { Context } from '../command.ts';
import type { OperatorCalls, TenantCalls } from '../gateway.ts';
import { describeEnd } from '../job-summary.ts';
import { count, fields, plural } from '../output.ts';
import { ResultReader } from '../results/result-reader.ts';
import type { Demo } from './demo.ts';
import type { DemoJob } from './demo-job.ts';
import { AnswerTally } from './ticket-answers.ts';

/** What came of one job of the demo. */
export interface Outcome {
  readonly wanted: DemoJob;
  readonly job: BatchJob;
  readonly tally: AnswerTally;
  readonly verification: Awaited<ReturnType<OperatorCalls['verifyLedger']>>;
  readonly workflowUrl: string | null;
}

export async function readOutcome(
  wanted: DemoJob,
  job: BatchJob,
  { calls, operator }: { readonly calls: TenantCalls; readonly operator: OperatorCalls },
): Promise<Outcome> {
  const tally = new AnswerTally();
  const reader = new ResultReader(calls, job.job_id, { status: 'completed' });
  for await (const rows of reader.newPages()) for (const row of rows) tally.add(row);
  const { workflow } = await operator.getJob(job.job_id);
  return { wanted, job, tally, verification: await operator.verifyLedger(job.job_id), workflowUrl: workflow.url };
}

/** The ledger adds up, and only the job that was to meet with errors has any. */
export function endedAsMeant({ wanted, job, verification }: Outcome): boolean {
  return verification.ok && job.status === (failedTicket(wanted) === null ? 'completed' : 'completed_with_errors');
}

/** How each job ended, and where to look next. */
export function describeDemo(demo: Demo, outcomes: readonly Outcome[], context: Context): string {
  const { terminal } = context;
  const ends = outcomes.map((outcome) => `${describeOutcome(outcome, context)}\n`).join('');
  const where = fields(context, whereToLook(demo, outcomes, context));
  return `\n${ends}${terminal.paint('bold', 'Where to look')}\n${where}\n${demo.whatIsNext}\n`;
}

function describeOutcome({ wanted, job, tally, verification }: Outcome, context: Context): string {
  const categories = tally.byCategory().map(({ category, tickets }) => `${count(tickets)} ${category}`);
  const failures = Object.entries(job.failures).map(([name, items]) => `${count(items)} ${name}`);
  const facts = fields(context, [
    ['answers', categories.join(', ')],
    ['urgent', count(tally.highUrgency)],
    ['unreadable', tally.unread === 0 ? null : count(tally.unread)],
    ['failures', failures.length === 0 ? null : `${failures.join(', ')}: each free of charge`],
    ['money', `${job.cost.reserved} ${job.cost.currency} held, ${job.cost.settled} settled, the rest given back`],
    [
      'ledger',
      verification.ok ? `${plural(verification.items, 'charge')} computed again: all add up` : 'does not add up',
    ],
  ]);
  return `${context.terminal.paint('bold', wanted.title)}  ${describeEnd(job, context)}${facts}`;
}

function whereToLook(demo: Demo, outcomes: readonly Outcome[], { program }: Context): [string, string | null][] {
  const [first] = outcomes;
  const troubled = outcomes.find(({ wanted }) => failedTicket(wanted) !== null);
  const data = demo.dataOption;
  return [
    ['results', first === undefined ? null : `${program} results ${first.job.job_id} --out results.jsonl${data}`],
    [
      'a failed item',
      troubled === undefined ? null : `${program} items ${troubled.job.job_id} ${failedTicket(troubled.wanted)}${data}`,
    ],
    ['ledger', first === undefined ? null : `${program} ledger ${first.job.job_id}${data}`],
    ...outcomes.map(({ wanted, workflowUrl }) => [`workflow, ${wanted.title}`, workflowUrl] as [string, string | null]),
    ['API reference', `${demo.ready.api_url}/docs`],
  ];
}

function failedTicket({ tickets, troubleOf }: DemoJob): string | null {
  return tickets.find((_, index) => troubleOf(index) !== null)?.id ?? null;
}
