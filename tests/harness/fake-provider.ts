import { readFile } from 'node:fs/promises';
import type { Catalogue } from '../../domain/catalogue.ts';
import { createGatewayCatalogue } from '../../domain/gateway-catalogue.ts';
import type { Provider } from '../../domain/provider.ts';
import type {
  BatchProvider,
  CompleteInput,
  CreateBatchInput,
  DirectAnswer,
  EncodableItem,
  KeptFiles,
  LabelledBatch,
  LineResult,
  NativeBatch,
  UploadInput,
} from '../../providers/provider.ts';
import { ProviderError, type ProviderErrorCode } from '../../providers/provider-error.ts';
import { TEST_FACTS } from './activities.ts';

/** A provider in memory that does what a test tells it, for activities run one by one. */
export class FakeProvider implements BatchProvider {
  readonly provider: Provider = 'openai';
  readonly inputFraming = { prefix: '', separator: '\n', suffix: '\n' };
  readonly encoded: EncodableItem[] = [];
  readonly inputs: string[] = [];
  readonly creates: CreateBatchInput[] = [];
  /** Whatever it is asked for is answered from here. */
  batches = new Map<string, NativeBatch>();
  candidates: NativeBatch[] = [];
  /** The result lines of a batch, by its id. */
  results = new Map<string, string[]>();
  onEncode: (item: EncodableItem) => void = () => undefined;
  onUpload: () => Promise<void> = async () => undefined;
  onCreate: (input: CreateBatchInput) => Promise<Partial<NativeBatch>> = async () => ({});

  encodeItem(item: EncodableItem): string {
    this.onEncode(item);
    this.encoded.push(item);
    return JSON.stringify({ id: item.providerItemId });
  }

  async uploadInput({ path }: UploadInput): Promise<{ inputFileId: string }> {
    this.inputs.push(await readFile(path, 'utf8'));
    await this.onUpload();
    return { inputFileId: `file-${this.inputs.length}` };
  }

  async createBatch(input: CreateBatchInput): Promise<NativeBatch> {
    this.creates.push(input);
    const batch = nativeBatch(`batch-${input.attemptToken}`, await this.onCreate(input));
    this.batches.set(batch.providerBatchId, batch);
    return batch;
  }

  /** Null for a provider whose batches carry no label. */
  listLabelled: (() => Promise<LabelledBatch[]>) | null = async () => [];

  async findBatches(_input: { readonly attemptToken: string }): Promise<NativeBatch[]> {
    return this.candidates;
  }

  async retrieveBatch({ providerBatchId }: { providerBatchId: string }): Promise<NativeBatch> {
    const batch = this.batches.get(providerBatchId);
    if (batch === undefined) throw refusal('not_found');
    return batch;
  }

  cancelBatch(input: { providerBatchId: string }): Promise<NativeBatch> {
    return this.retrieveBatch(input);
  }

  /** What was asked to be deleted, oldest first. */
  readonly deleted: KeptFiles[] = [];
  onDelete: () => Promise<void> = async () => undefined;

  async deleteFiles({ files }: { files: KeptFiles }): Promise<void> {
    await this.onDelete();
    this.deleted.push(files);
  }

  resultFiles({ providerBatchId }: NativeBatch) {
    return this.results.has(providerBatchId) ? [{ kind: 'output' as const, fileId: providerBatchId }] : [];
  }

  async *downloadFile({ file }: { file: { fileId: string } }): AsyncGenerator<Uint8Array> {
    for (const line of this.results.get(file.fileId) ?? []) yield Buffer.from(`${line}\n`);
  }

  /** A line is the provider-side id of an item that was answered. */
  decodeLine(_endpoint: string, line: string) {
    const usage = { inputTokens: 10, outputTokens: 5 };
    const result = { kind: 'completed', body: '{}', usage, model: null } as unknown as LineResult;
    return { kind: 'result' as const, providerItemId: line, result };
  }

  /** Requests sent by themselves, oldest first. */
  readonly completes: CompleteInput[] = [];
  onComplete: (input: CompleteInput) => Promise<DirectAnswer> = async ({ model }) => {
    const usage = { inputTokens: 10, outputTokens: 5 };
    return { kind: 'completed', body: '{}', usage, model };
  };

  async complete(input: CompleteInput): Promise<DirectAnswer> {
    this.completes.push(input);
    return this.onComplete(input);
  }

  /** Moves a batch on and answers it. */
  move(providerBatchId: string, change: Partial<NativeBatch>): NativeBatch {
    const batch = { ...(this.batches.get(providerBatchId) ?? nativeBatch(providerBatchId)), ...change };
    this.batches.set(providerBatchId, batch);
    return batch;
  }
}

export function nativeBatch(providerBatchId: string, change: Partial<NativeBatch> = {}): NativeBatch {
  return {
    ...{
      providerBatchId,
      phase: 'running',
      end: null,
      nativeStatus: 'in_progress',
      nativeCounts: null,
      progress: null,
    },
    ...{ createdAt: null, expiresAt: null, inputFileId: null, outputFileId: null, errorFileId: null },
    ...{ operationName: null, validationErrors: [], capacityRefused: false },
    ...change,
  };
}

/** A refusal of a call that surely did nothing. */
export function refusal(code: ProviderErrorCode, message: string = code): ProviderError {
  return new ProviderError({ code, message, isRetryable: true, mayHaveActed: false });
}

/** The catalogue as it is, with another word on labels and on the room in queues. */
export function catalogueOf(known: { sizesDiffer?: boolean; maxConcurrentBatches?: number }): Catalogue {
  const catalogue = createGatewayCatalogue(TEST_FACTS);
  const { sizesDiffer = false, maxConcurrentBatches = null } = known;
  return {
    ...catalogue,
    findCapability: (...of) => {
      const row = catalogue.findCapability(...of);
      const limits = { maxQueuedItems: null, maxQueuedTokens: null, maxConcurrentBatches };
      return row === null ? null : { ...row, sizesDiffer, limits: { ...row.limits, ...limits } };
    },
  };
}
