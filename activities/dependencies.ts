import type { ArtifactStore } from '../artifacts/store.ts';
import type { Database } from '../db/client.ts';
import type { OpenRun } from '../db/document-runs.ts';
import type { OpenJob } from '../db/open-jobs.ts';
import type { OverdueTask } from '../db/overdue-tasks.ts';
import type { StartableDelivery } from '../db/webhook-deliveries.ts';
import type { PdfTextReader } from '../documents/pdf-text-reader.ts';
import type { Catalogue } from '../domain/catalogue.ts';
import type { Cipher } from '../encryption/cipher.ts';
import type { ProviderAdapters } from '../providers/provider-adapters.ts';
import type { ByteBudget } from './byte-budget.ts';
import type { TransferSlots } from './transfer-slots.ts';

/** What an activity may use; built by hand in worker/main.ts. */
export interface ActivityDependencies {
  readonly db: Database;
  readonly providers: ProviderAdapters;
  /** What is known of the providers, before any tenant's overrides. */
  readonly catalogue: Catalogue;
  /** Opens what is stored sealed. */
  readonly cipher: Cipher;
  /** Null where none is set: then no copies of result files are kept. */
  readonly artifacts: ArtifactStore | null;
  readonly workflows: JobWorkflowControl;
  readonly deliveries: DeliveryControl;
  readonly tasks: TaskControl;
  readonly runs: DocumentRunControl;
  readonly transfers: TransferSlots;
  readonly pdfTexts: Pick<PdfTextReader, 'read'>;
  /** Of documents that are being read and sent. */
  readonly documentBytes: ByteBudget;
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

/** Starting and waking workflows, from outside of them. All of it is harmless to repeat. */
export interface JobWorkflowControl {
  /** True when it started a run, false when one is running already. */
  start(job: OpenJob): Promise<boolean>;
  signalCancel(jobId: string): Promise<void>;
  /** Ends the wait of a shard. One whose workflow has ended is left alone. */
  wakeShard(jobId: string, shard: number): Promise<void>;
  /** Has a job look at its shards, start those whose workflow is gone and wake the others. False: it has no workflow. */
  wakeJob(jobId: string): Promise<boolean>;
  isShardRunning(jobId: string, shard: number): Promise<boolean>;
}

/** Starting the workflows of webhooks. */
export interface DeliveryControl {
  /** True when it started a run; one that is running is woken. */
  start(delivery: StartableDelivery): Promise<boolean>;
}

/** Starting and waking the workflows of single tasks. */
export interface TaskControl {
  /** True when it started a run, false when one is running already. */
  start(task: OverdueTask): Promise<boolean>;
  /** Has it read its row now. One whose workflow has ended is left alone. */
  wake(taskId: string): Promise<void>;
}

/** Starting and waking the workflows of runs over documents. */
export interface DocumentRunControl {
  /** True when it started a run, false when one is running already. */
  start(run: OpenRun): Promise<boolean>;
  /** Has it read its rows now. One whose workflow has ended is left alone. */
  wake(runId: string): Promise<void>;
}

/** Paces and bounds, from the environment. All in milliseconds but counts and the folder. */
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
  /** How long an empty account or a refused credential is waited out before the items fail. */
  readonly waitLimitMs: number;
  /** How long a full queue or a rate limit is waited out before the items fail. */
  readonly capacityWaitMs: number;
  /** Shards of one job at the provider at once. */
  readonly shardWindow: number;
  /** How often a task or a document is tried, and how long it waits before the second time. */
  readonly taskAttempts: number;
  readonly taskRetryMs: number;
  /** Documents of one run that are asked about at once. */
  readonly documentsAtOnce: number;
  /** Where input files are built before they are uploaded. */
  readonly workDirectory: string;
}
