import type { BatchJobState } from '../workflows/messages.ts';
import type { StartableJob, StartableRun, StartableShard, StartableTask } from '../workflows/start-options.ts';

/** `stale`: another submission of the job decides, this one is none any more. */
type Verdict = 'accepted' | 'refused' | 'cancelled' | 'stale';

/** What a submission is handed over with. */
export type SubmittedJob = StartableJob;

/** - `pending`: handed over, or perhaps so; the verdict is not known. `unreachable`: most likely never handed over. */
export type SubmitOutcome =
  | { readonly kind: 'verdict'; readonly verdict: Verdict }
  | { readonly kind: 'pending' }
  | { readonly kind: 'unreachable' };

/** Nothing was there to tell, or nobody could be asked. Neither is a failure of the request. */
export type SignalOutcome = 'signalled' | 'not_running' | 'unreachable';

/** The workflows of batch jobs as the api sees them. Every call ends within a few seconds, and none throws. */
export interface JobWorkflows {
  /** Hands a claimed submission over and waits up to `waitMs` for the verdict. */
  submit(job: SubmittedJob, waitMs: number): Promise<SubmitOutcome>;
  /** Wakes the workflow of a job that shall be cancelled. The wish itself is in the job's row. */
  signalCancel(jobId: string, request: { readonly reason: string | null; readonly by: string }): Promise<SignalOutcome>;
  /** Has the job's open shards look at their batches at once: through the job, or each by itself where the job's workflow is gone. */
  pollNow(jobId: string, shards: readonly number[]): Promise<SignalOutcome>;
  /** Has one shard look at its batch at once. */
  pollShard(jobId: string, shard: number): Promise<SignalOutcome>;
  /** Has shards read their rows again, whatever they wait for or are at; those without a workflow are started by their job. */
  rowsChanged(jobId: string, shards: readonly number[]): Promise<SignalOutcome>;
  /** Has a shard's workflow look at its rows, and starts one where it has ended. */
  startShard(shard: StartableShard): Promise<SignalOutcome>;
  /** Starts the workflow of a task that has been stored; where that fails the sweep does it. */
  startTask(task: StartableTask): Promise<SignalOutcome>;
  /** Has a task's workflow look at its row. */
  taskChanged(taskId: string): Promise<SignalOutcome>;
  /** Starts the workflow of a run over documents that has been stored; where that fails the sweep does it. */
  startRun(run: StartableRun): Promise<SignalOutcome>;
  /** Has a run's workflow look at its rows. */
  runChanged(runId: string): Promise<SignalOutcome>;
  /** The workflow's own answer to its `state` query, null when none came within two seconds. */
  queryState(jobId: string): Promise<BatchJobState | null>;
  /** Has what is due for deletion deleted now; where it is being done already, the run under way may have passed it. */
  runRetention(): Promise<SignalOutcome>;
  isReachable(): Promise<boolean>;
}
