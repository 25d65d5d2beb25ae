import type { Database } from '../db/client.ts';
import type { OpenJob } from '../db/open-jobs.ts';
import type { Provider } from '../domain/provider.ts';
import type { BatchProvider } from '../providers/provider.ts';
import type { TransferSlots } from './transfer-slots.ts';

/** What an activity may use; built by hand in worker/main.ts. */
export interface ActivityDependencies {
  readonly db: Database;
  readonly providers: ReadonlyMap<Provider, BatchProvider>;
  readonly workflows: JobWorkflowControl;
  readonly transfers: TransferSlots;
  readonly settings: EngineSettings;
  readonly now: () => Date;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly newAttemptToken: () => string;
  readonly log: ActivityLog;
}

/** Facts for operators: ids, counts and closed words only. */
export interface ActivityLog {
  info(facts: Readonly<Record<string, unknown>>, message: string): void;
  warn(facts: Readonly<Record<string, unknown>>, message: string): void;
}

/** Starting and waking job workflows, for the sweeps. Both are harmless to repeat. */
export interface JobWorkflowControl {
  /** True when it started a run, false when one is running already. */
  start(job: OpenJob): Promise<boolean>;
  signalCancel(jobId: string): Promise<void>;
}

/** Paces and bounds, from the environment. All in milliseconds but the last three. */
export interface EngineSettings {
  readonly pollMinMs: number;
  readonly pollMaxMs: number;
  /** A create not answered by then is given up on and looked for. */
  readonly createDeadlineMs: number;
  /** How long a new batch may take to appear in the provider's list. */
  readonly listingLagMs: number;
  /** Between the last download and calling what is still absent missing. */
  readonly resultGraceMs: number;
  /** A batch the provider has denied for this long is lost. */
  readonly providerLostAfterMs: number;
  /** First wait after a full queue or a rate limit without a hint. */
  readonly capacityRetryMs: number;
  /** How long a full queue, an empty account or a refused credential is waited out before the items fail. */
  readonly waitLimitMs: number;
  /** Shards of one job at the provider at once. */
  readonly shardWindow: number;
  /** Where input files are built before they are uploaded. */
  readonly workDirectory: string;
}
