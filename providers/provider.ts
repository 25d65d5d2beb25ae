import type { BatchEnd, BatchPhase } from '../domain/batch-phase.ts';
import type { FailureClass, FailureCode } from '../domain/failure.ts';
import type { Endpoint, Provider } from '../domain/provider.ts';
import type { RawUsage } from '../domain/usage.ts';

/**
 * The one interface every provider's batch API is spoken through. An adapter translates and decides nothing about
 * tenants, money or retries; it reports what the provider said.
 */
export interface BatchProvider {
  readonly provider: Provider;
  /** How encoded lines become one input file: `prefix + lines.join(separator) + suffix`. */
  readonly inputFraming: { prefix: string; separator: string; suffix: string };

  /**
   * One item as the text of one input line (no line end). `request` is the item's merged body. Throws
   * {@link UntranslatableRequest} for one this provider cannot be asked, which admission should have refused.
   */
  encodeItem(item: EncodableItem): string;

  /**
   * Sends the input file, where the provider takes one apart from the create; null where the create carries it.
   * May be repeated: a second upload only leaves an unused file. Throws {@link ProviderError}.
   */
  uploadInput(input: UploadInput): Promise<{ inputFileId: string } | null>;

  /**
   * Creates the batch: one request, never repeated by the SDK. Throws {@link ProviderError} whose `mayHaveActed` tells
   * whether the provider may have acted.
   */
  createBatch(input: CreateBatchInput): Promise<NativeBatch>;

  /**
   * Batches that may be the one created under `attemptToken`, newest first: exactly one or none where the provider
   * carries a label, possibly several where it does not.
   */
  findBatches(input: FindBatchesInput): Promise<NativeBatch[]>;

  /**
   * Batches made since a time that carry a token of some attempt, whichever gateway's, newest first. Null where batches
   * carry no label. Throws {@link ProviderError}.
   */
  readonly listLabelled: ((input: ListLabelledInput) => Promise<LabelledBatch[]>) | null;

  /** Throws {@link ProviderError} with code `not_found` for an unknown batch, `malformed_reply` for a reply that is no batch. */
  retrieveBatch(input: { providerBatchId: string; signal: AbortSignal }): Promise<NativeBatch>;

  /** Asks for the cancel. A batch that has already ended is returned as it is, not an error. */
  cancelBatch(input: { providerBatchId: string; signal: AbortSignal }): Promise<NativeBatch>;

  /** The files to read once the batch has ended, successes first. */
  resultFiles(batch: NativeBatch): ResultFile[];

  /** The raw bytes of a result file as they arrive. Throws {@link ProviderError}, also in the middle of the stream. */
  downloadFile(input: { file: ResultFile; signal: AbortSignal }): AsyncIterable<Uint8Array>;

  /**
   * Deletes what the provider keeps of an ended batch: its input and its results. What is gone already is no error, so it may
   * be repeated. Throws {@link ProviderError}.
   */
  deleteFiles(input: { files: KeptFiles; signal: AbortSignal }): Promise<void>;

  /** One result line, LF and trailing CR removed. Never throws on what a provider sent. */
  decodeLine(endpoint: Endpoint, line: string): ResultLine;

  /**
   * Asks the provider's ordinary endpoint for one request: one HTTP request, never repeated by the SDK. What the provider
   * says of the request itself (an answer, a refusal of its content, that it is invalid) is the answer; what says nothing
   * of it (a rate limit, trouble, a lost connection, a refused credential) is thrown as {@link ProviderError}. Throws
   * {@link UntranslatableRequest}, before anything is sent, for one this provider cannot be asked, or that wants its reply
   * streamed.
   */
  complete(input: CompleteInput): Promise<DirectAnswer>;
}

export interface CompleteInput extends Omit<EncodableItem, 'providerItemId'> {
  signal: AbortSignal;
  /** From sending the request to the last byte of its reply; 5 minutes where not given. */
  timeoutMs?: number;
}

/**
 * What the ordinary endpoint said of one request: the same as a line of a batch would. A failure is of class `validation`
 * or `safety_blocked`, or of any class where the provider counted tokens for it: then `usage` says how many.
 */
export type DirectAnswer = Extract<LineResult, { kind: 'completed' | 'failed' }>;

export interface EncodableItem {
  /** What the provider sees instead of the caller's custom id; see domain/attempt-token.ts. */
  providerItemId: string;
  endpoint: Endpoint;
  /** The provider's own model name; replaces any `model` in the request. */
  model: string;
  request: Readonly<Record<string, unknown>>;
  /** The most tokens of the reply where the request sets no limit of its own and the provider wants one: what is held. */
  defaultMaxOutputTokens: number;
}

export interface UploadInput {
  /** Path of the finished input file on this machine's disk. */
  path: string;
  fileName: string;
  signal: AbortSignal;
}

export interface CreateBatchInput {
  /** Unique for every attempt to create; put wherever the provider lets a caller leave a label. */
  attemptToken: string;
  endpoint: Endpoint;
  model: string;
  itemCount: number;
  inputFileId: string | null;
  /** The finished input file, for a provider whose create carries it. */
  path: string | null;
  /** Aborts at the attempt's create deadline. */
  signal: AbortSignal;
}

export interface FindBatchesInput {
  attemptToken: string;
  inputFileId: string | null;
  itemCount: number;
  /** Start of the attempt; older batches cannot be its own. */
  createdAfter: Date;
  signal: AbortSignal;
}

export interface ListLabelledInput {
  createdAfter: Date;
  signal: AbortSignal;
}

export interface LabelledBatch {
  attemptToken: string;
  batch: NativeBatch;
}

export interface NativeBatch {
  providerBatchId: string;
  phase: BatchPhase;
  /** Set if and only if `phase` is `ended`. Says nothing of the items: every end may hold results. */
  end: BatchEnd | null;
  /** The provider's own word. */
  nativeStatus: string;
  /** The provider's own counts, as it wrote them, for operators. */
  nativeCounts: Readonly<Record<string, unknown>> | null;
  /** A hint for progress, null where the counts are absent or make no sense. Never counts, never money. */
  progress: { total: number; completed: number; failed: number } | null;
  createdAt: Date | null;
  expiresAt: Date | null;
  inputFileId: string | null;
  outputFileId: string | null;
  errorFileId: string | null;
  operationName: string | null;
  /** Faults the provider found in the input before running anything. `line` is 1-based. */
  validationErrors: readonly ValidationError[];
  /** True if the batch failed only because a quota of enqueued work is full, so that creating it anew later may succeed. */
  capacityRefused: boolean;
}

export interface ValidationError {
  code: string;
  message: string;
  line: number | null;
  param: string | null;
}

/** What a provider keeps of an attempt, by its ids; null for what it never had. */
export type KeptFiles = Pick<NativeBatch, 'inputFileId' | 'outputFileId' | 'errorFileId'> & {
  providerBatchId: string | null;
};

export interface ResultFile {
  kind: 'output' | 'error';
  /** The provider's id of a file; of the batch itself where that carries or names its results. */
  fileId: string;
}

/** What one line of a result file says. `unreadable` keeps no text: the caller has the bytes. */
export type ResultLine =
  | { kind: 'unreadable'; reason: string; providerItemId: string | null }
  | { kind: 'result'; providerItemId: string; result: LineResult };

export type LineResult =
  | {
      kind: 'completed';
      /**
       * The result as JSON text: a completion in OpenAI's shape for `chat.completions`, else the native body. Byte for
       * byte the provider's where the shape is its own.
       */
      body: string;
      /** Null where the provider gave none, or none in a known shape. Neutral names; values not yet sanitised. */
      usage: RawUsage | null;
      /** The model the provider says it ran. */
      model: string | null;
    }
  | {
      kind: 'failed';
      class: FailureClass;
      code: FailureCode;
      /** The provider's words, ours where it gave none. For operators: see `Failure` for what a tenant is shown. */
      message: string;
      nativeType: string | null;
      nativeCode: string | null;
      statusCode: number | null;
      /** What the provider says it counted, and so bills, although the item failed. */
      usage?: RawUsage;
      /** The reply's body as JSON text, where there was one. */
      body?: string;
    }
  | { kind: 'expired' }
  | { kind: 'cancelled' };
