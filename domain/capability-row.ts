import type { Endpoint, Provider } from './provider.ts';
import type { Feature } from './request-features.ts';

/** Something a provider's batch mode does not do, and what a caller should do instead. */
export interface FeatureRefusal {
  readonly feature: Feature;
  readonly message: string;
  /** True where only the batch mode refuses it, and not the model on its ordinary endpoint. */
  readonly ofBatchMode?: true;
}

/** What one provider batch may hold, and how much of it the provider takes in. Null where nothing is published. */
export interface BatchLimits {
  readonly maxItems: number;
  /** Of the encoded input: the uploaded file, or the create body where requests are sent inline. */
  readonly maxBytes: number;
  readonly maxItemBytes: number;
  /** Texts to embed over the whole batch. */
  readonly maxEmbeddingInputs: number | null;
  readonly maxCreatesPerHour: number | null;
  /** Requests waiting at the provider at once, over all batches of a credential. */
  readonly maxQueuedItems: number | null;
  /** Input tokens waiting at the provider at once, for a credential and model. The provider's own word wins. */
  readonly maxQueuedTokens: number | null;
  readonly maxConcurrentBatches: number | null;
}

/** What a provider keeps of a batch that does not run to its end, and until when results can be had. */
export interface BatchLifetime {
  /** After this a batch that is not done expires; null where it never does by itself. */
  readonly windowHours: number | null;
  readonly resultRetentionDays: number;
  readonly onExpiry: 'finished_items_kept' | 'nothing_kept';
  readonly onCancel: 'finished_items_kept' | 'nothing_kept';
}

/** What one provider's batch mode can do on one endpoint with one family of models. Data: no code derives a row. */
export interface CapabilityRow {
  readonly provider: Provider;
  readonly endpoint: Endpoint;
  /** Model ids; one that ends in `*` stands for all that begin so. The first row that matches decides. */
  readonly models: readonly string[];
  /** False for models that the provider runs in its ordinary API only. */
  readonly isBatchEligible: boolean;
  readonly refuses: readonly FeatureRefusal[];
  readonly limits: BatchLimits;
  readonly lifetime: BatchLifetime;
  /** The batch carries no label to find it by, so shards of one job tell themselves apart by their size. */
  readonly sizesDiffer: boolean;
  /** Where the row's facts are from. */
  readonly source: string;
}

/** One item must leave room for others in a batch: the gateway's own limit where a provider publishes none. */
export const DEFAULT_MAX_ITEM_BYTES = 100_000_000;
