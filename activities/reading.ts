import type { AttemptRow } from '../db/attempts.ts';
import type { JobRow } from '../db/job-rows.ts';
import type { ShardRow } from '../db/shards.ts';
import type { TargetPrice } from '../db/target-prices.ts';
import type { CustomerPricing } from '../domain/customer-pricing.ts';
import type { ResultReading } from '../domain/ingest-decision.ts';
import type { BatchProvider } from '../providers/provider.ts';

/** One reading of the result files of an attempt's batch. */
export interface Reading extends ResultReading {
  readonly job: JobRow;
  readonly shard: ShardRow;
  readonly attempt: AttemptRow;
  readonly provider: BatchProvider;
  readonly target: TargetPrice;
  /** Of the job's customer; null where it is shown what the tenant pays. */
  readonly customerPricing: CustomerPricing | null;
  /** Lines put into the stage, by settlement range. */
  readonly staged: Map<number, number>;
}

/** What its lines were. */
export interface Counts {
  completed: number;
  failed: number;
  /** Lines that name an item of the batch, whatever they say of it. */
  matched: number;
  unmatched: number;
  /** Of the unmatched, those that name an item of another attempt, or of somebody else's. */
  foreign: number;
  /** Items that settled by lines that completed. */
  settled: number;
}
