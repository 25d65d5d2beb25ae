import type { BatchJob } from '../contracts/job.ts';
import type { Context } from './command.ts';
import { CommandError } from './errors.ts';
import type { TenantCalls } from './gateway.ts';
import { hasEnded, wasRefused } from './job-progress.ts';
import type { LiveView } from './live-view.ts';

export interface Watching {
  readonly calls: Pick<TenantCalls, 'getStatus'>;
  readonly jobId: string;
  readonly view: LiveView;
  /** Ends the watch, not the job. */
  readonly signal: AbortSignal;
  /** Runs at each look, before it is shown. */
  readonly onLook?: (job: BatchJob) => Promise<void>;
  readonly written?: () => number;
}

/** Quick at first, since small jobs end soon against a simulator; slow where hours are waited. */
const PACE: readonly (readonly [afterMs: number, everyMs: number])[] = [
  [10 * 60_000, 5_000],
  [60_000, 2_000],
  [10_000, 1_000],
  [0, 300],
];
/** A gateway that is restarted comes back before that; a person can still leave earlier. */
const PATIENCE_MS = 5 * 60_000;

/** Follows a job until it has ended, its submit was refused, or the signal; returns it as last seen. */
export async function watchJob(watching: Watching, context: Pick<Context, 'nowMs' | 'sleep'>): Promise<BatchJob> {
  const { calls, jobId, view, signal, written } = watching;
  const startedMs = context.nowMs();
  let job: BatchJob | undefined;
  let answeredMs = startedMs;
  const show = (shown: BatchJob, notes: readonly string[]) =>
    view.show({ job: shown, nowMs: context.nowMs(), startedMs, written: written?.() ?? null, notes });
  for (;;) {
    try {
      job = await calls.getStatus(jobId);
      await watching.onLook?.(job);
      answeredMs = context.nowMs();
      show(job, []);
      if (hasEnded(job) || wasRefused(job) || signal.aborted) return job;
    } catch (error) {
      if (job === undefined || !isOutOfReach(error) || context.nowMs() - answeredMs > PATIENCE_MS) throw error;
      show(job, ['The gateway does not answer; trying again.']);
      if (signal.aborted) return job;
    }
    await context.sleep(paceMs(context.nowMs() - startedMs), signal);
  }
}

function paceMs(elapsedMs: number): number {
  return PACE.find(([afterMs]) => elapsedMs >= afterMs)?.[1] ?? 1_000;
}

function isOutOfReach(error: unknown): boolean {
  return error instanceof CommandError && error.exit === 'unreachable';
}
