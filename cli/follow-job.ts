import type { BatchJob } from '../contracts/job.ts';
import type { Context } from './command.ts';
import { CommandError } from './errors.ts';
import { exitCode } from './exit-codes.ts';
import type { TenantCalls } from './gateway.ts';
import type { Interrupts } from './interrupts.ts';
import { hasEnded, settledItems } from './job-progress.ts';
import { describeEnd } from './job-summary.ts';
import { createLiveView, type LiveView, SILENT_VIEW } from './live-view.ts';
import type { ResultSink } from './results/result-file.ts';
import { resultLine } from './results/result-line.ts';
import { ResultReader } from './results/result-reader.ts';
import { watchJob } from './watch-job.ts';

export interface Following {
  readonly calls: Pick<TenantCalls, 'getStatus' | 'listResults'>;
  readonly jobId: string;
  readonly interrupts: Interrupts;
  /** Where results go as they arrive; null for nowhere. */
  readonly sink: ResultSink | null;
  readonly asJson: boolean;
}

/**
 * Follows a job live to its end, writes its results as they settle, says how it ended, and returns the exit code. A sink
 * is finished, or discarded where the person leaves. Throws where the submit turned out to be refused.
 */
export async function followJob(following: Following, context: Context): Promise<number> {
  const { interrupts, sink, asJson } = following;
  const view = asJson && context.terminal.err.isTTY !== true ? SILENT_VIEW : createLiveView(context);
  interrupts.askFirst(() => {
    const cancel = `${context.program} cancel ${following.jobId}`;
    view.addNotes(['Ctrl-C again leaves, and the job goes on.', `To stop the job: ${cancel}`]);
  });
  const job = await watch(following, view, context).catch((error: unknown) => {
    if (!asJson) context.terminal.err.write(describeGoingOn(following.jobId, context.program));
    throw error;
  });
  if (!hasEnded(job)) return notEnded(following, job, context);
  await sink?.finish();
  const end = asJson ? `${JSON.stringify(job)}\n` : describeEnd(job, context);
  const { out, err } = context.terminal;
  (sink?.isStandardOutput ? err : out).write(end);
  return exitCode(job.status === 'completed' ? 'ok' : 'unsuccessful');
}

async function watch(following: Following, view: LiveView, context: Context): Promise<BatchJob> {
  const { calls, jobId, interrupts, sink } = following;
  const reader = new ResultReader(calls, jobId);
  let written = 0;
  const writeNew = async (job: BatchJob) => {
    if (sink === null || (settledItems(job) <= written && !hasEnded(job))) return;
    for await (const rows of reader.newPages()) {
      await sink.write(rows.map(resultLine).join(''));
      written += rows.length;
      if (interrupts.signal.aborted) return;
    }
  };
  return await watchJob(
    {
      calls,
      jobId,
      view,
      signal: interrupts.signal,
      onLook: writeNew,
      ...(sink !== null && { written: () => written }),
    },
    context,
  );
}

async function notEnded({ sink, jobId }: Following, job: BatchJob, { terminal, program }: Context): Promise<number> {
  if (job.refusal !== null && job.status === 'draft') throw new CommandError('refused', job.refusal);
  await sink?.discard();
  terminal.err.write(describeGoingOn(jobId, program));
  return exitCode('interrupted');
}

function describeGoingOn(jobId: string, program: string): string {
  const lines = [
    `${jobId} goes on.`,
    `  follow it  ${program} status ${jobId} --watch`,
    `  cancel it  ${program} cancel ${jobId}`,
    `  results    ${program} results ${jobId} --out results.jsonl`,
  ];
  return lines.map((line) => `${line}\n`).join('');
}
