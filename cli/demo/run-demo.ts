import type { BatchJob } from '../../contracts/job.ts';
import type { StackReady } from '../../local/stack-options.ts';
import { Client } from '../client.ts';
import type { Context } from '../command.ts';
import { CommandError } from '../errors.ts';
import { exitCode } from '../exit-codes.ts';
import { operatorCalls, type TenantCalls, tenantCalls } from '../gateway.ts';
import { hasEnded } from '../job-progress.ts';
import { createLiveViews, SILENT_VIEW } from '../live-view.ts';
import { plural, printJson } from '../output.ts';
import { describeStack } from '../stack-summary.ts';
import { makeDraft } from '../submit-file.ts';
import { VERSION } from '../version.ts';
import { watchJob } from '../watch-job.ts';
import type { Demo } from './demo.ts';
import type { DemoJob } from './demo-job.ts';
import { demoJobs } from './demo-jobs.ts';
import { describeDemo, endedAsMeant, readOutcome } from './outcome.ts';
import { ticketLines } from './ticket-job.ts';
import { makeTickets } from './tickets.ts';

/**
 * Submits the tickets to a stack, a job for each provider, shows the jobs side by side until all have ended and what
 * came of them; returns the exit code.
 */
export async function runDemo(demo: Demo, context: Context): Promise<number> {
  const { ready, asJson } = demo;
  const { out, err, paint } = context.terminal;
  const calls = tenantCalls(connect(ready, ready.tenant_key, context));
  const operator = operatorCalls(connect(ready, ready.operator_key, context));
  if (!asJson) out.write(`\n${paint('bold', 'Batchgate is ready.')}\n\n${describeStack(ready, context)}\n`);

  const wanted = demoJobs(makeTickets(demo.items), ready);
  const submitted: BatchJob[] = [];
  for (const job of wanted) submitted.push(await submitTickets(job, calls));
  if (!asJson) out.write(describeSubmitted(demo.items, wanted, submitted));
  const isSilent = asJson && err.isTTY !== true;
  const views = createLiveViews(wanted.length, context);
  const ended = await Promise.all(
    submitted.map(({ job_id: jobId }, index) => {
      const view = (isSilent ? undefined : views[index]) ?? SILENT_VIEW;
      return watchJob({ calls, jobId, view, signal: demo.signal }, context);
    }),
  );
  const refused = ended.find((job) => job.refusal !== null && job.status === 'draft');
  if (refused?.refusal) throw new CommandError('refused', refused.refusal);
  if (!ended.every(hasEnded)) return exitCode('interrupted');

  const outcomes = await Promise.all(
    wanted.map((job, index) => readOutcome(job, ended[index] ?? fail(job.title), { calls, operator })),
  );
  if (asJson) printJson(context, { ...ready, jobs: ended });
  else out.write(describeDemo(demo, outcomes, context));
  return exitCode(outcomes.every(endedAsMeant) ? 'ok' : 'unsuccessful');
}

function fail(title: string): never {
  throw new Error(`the job on ${title} was not watched`);
}

async function submitTickets(job: DemoJob, calls: TenantCalls): Promise<BatchJob> {
  const draft = await makeDraft(calls, job.wanted, ticketLines(job));
  return await calls.submit(draft.job.job_id);
}

function describeSubmitted(items: number, wanted: readonly DemoJob[], submitted: readonly BatchJob[]): string {
  const jobs = wanted.map(
    ({ title, tickets }, index) => `  ${submitted[index]?.job_id}  ${tickets.length} on ${title}`,
  );
  return `${plural(items, 'support ticket')} to classify are submitted:\n${jobs.join('\n')}\n\n`;
}

function connect(ready: StackReady, key: string, { fetch, sleep }: Context): Client {
  const unreachableFix = 'The end of logs/api.log in the data folder may tell why.';
  return new Client({ url: ready.api_url, key, fetch, sleep, unreachableFix, userAgent: `batchgate-cli/${VERSION}` });
}
